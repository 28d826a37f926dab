"""Looks over a running installation, part by part, and changes nothing. How it is shown is the command line's."""
