"""Contests in motion: logins, pairing, absences, and the organiser's hand. What is pure stands one folder up."""
