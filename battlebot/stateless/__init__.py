"""Stateless bots: a worker asks them at an address, one question per turn. The arena makes the questions."""
