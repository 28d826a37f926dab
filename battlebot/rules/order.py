"""Checks `places` and `scores`, by which a game says in which order its players finished. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_SCORE = 10**12  # however many of them can still be added up in 64 bits


def problem_of_places(places: Any, players: Sequence[str]) -> str | None:
    """Returns what is wrong with the `places` of a state, to be read after "state"; None if nothing is."""
    if not isinstance(places, list) or not all(isinstance(rank, list) for rank in places):
        return "has 'places' that are not a list of lists"
    named = [player for rank in places for player in rank]
    if not all(player in players for player in named) or len(set(named)) < len(named):
        return "has 'places' that do not name each player once at most"
    return None


def are_scores(scores: Any) -> bool:
    """Returns whether a state's `scores` are meant to be added up: others, like crossword's, are the game's own."""
    return isinstance(scores, list) and any(isinstance(row, dict) for row in scores)


def problem_of_scores(scores: Any, players: Sequence[str]) -> str | None:
    """Like `problem_of_places`, for `scores`."""
    if not isinstance(scores, list) or not all(isinstance(row, dict) for row in scores):
        return "has 'scores' that are not a list of objects"
    if not all(row.get("name") in players and type(row.get("score")) is int for row in scores):
        return "has 'scores' that are not a player's 'name' and an integer 'score' each"
    if len({row["name"] for row in scores}) < len(scores):
        return "has 'scores' that do not name each player once at most"
    if any(abs(row["score"]) > MAX_SCORE for row in scores):
        return f"has 'scores' that are not from -{MAX_SCORE} to {MAX_SCORE}"
    return None
