"""Examines a running installation, part by part, and changes nothing. The command line shows the findings."""
