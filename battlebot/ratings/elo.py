"""The original duel arena's ratings: Elo from 1200, K = 30, both moved by the ratings before. Pure."""

from __future__ import annotations

START = 1200.0
K = 30.0
SCALE = 400.0  # a lead of this many points means odds of ten to one


def expected(own: float, other: float) -> float:
    """A player's expected score, from 0 to 1."""
    return 1.0 / (1.0 + 10.0 ** ((other - own) / SCALE))


def moved(own: float, other: float, score: float) -> float:
    """The rating after a board: `score` is 1 for a win, 0.5 for a draw, 0 for a loss."""
    return own + K * (score - expected(own, other))
