"""Contests: who may enter, who meets whom (by the format), who leads. Formats and ranking are pure."""
