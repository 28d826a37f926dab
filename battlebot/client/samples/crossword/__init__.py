"""Sample bots for crossword. Each decides by a function from a history to one event, so it can play through any door.

`python -m battlebot.client.samples.crossword.greedy --help`; the same for `challenger`.
"""
