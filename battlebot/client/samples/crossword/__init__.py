"""Bots for crossword. Each decides by a function from a history to one event, so that it can play through any door.

`python -m battlebot.client.samples.crossword.greedy --help`; the same for `challenger`.
"""
