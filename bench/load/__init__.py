"""The load generator: a process of its own that plays many bots, times their turns and checks all they are told.

Reads one job as JSON from stdin; writes `{"window": "open"}` when the measured time begins, then its result, to stdout.
It shares no code with the server, so that an error in the rules cannot hide in both.
"""
