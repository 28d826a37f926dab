"""The load generator: a separate process that plays many bots, times their turns and checks all messages to them.

Reads one job as JSON from stdin; writes `{"window": "open"}` when the measured time begins, then its result, to stdout.
It shares no code with the server, so that both cannot share an error in the rules.
"""
