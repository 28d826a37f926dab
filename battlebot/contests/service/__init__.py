"""Running contests: logins, pairing, absences, queries and organisers' actions. Pure code is one folder up."""
