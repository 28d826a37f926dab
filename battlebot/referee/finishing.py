"""The order in which the players of a match finished: as its game states it, else by who lost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from battlebot.referee.match import Match, Reason
from battlebot.rules.order import problem_of_places, problem_of_scores

Ranks = Iterable[Iterable[str]]


def rank_numbers(match: Match) -> dict[str, int]:
    """Returns bot -> its rank's number, from 1, for a match that is over; equal bots share a rank (1, 2, 2, 4).

    Players missing from the game's `places` come last. A match without `places`, or that did not end by its rules, has
    a first and a last rank: all but the victor are last, or, if nobody won, the bots that ran out of time or were
    gone.
    """
    verdict, players = match.verdict, [seat.bot for seat in match.seats]
    assert verdict is not None
    ranks = stated_ranks(match.state, players)
    if ranks is not None and verdict.reason is Reason.COMPLETE:
        return numbered(ranks)
    if verdict.victor is not None:
        lost = set(players) - {verdict.victor}
    else:
        lost = {verdict.evidence.get("bot"), *verdict.evidence.get("absent", ())} & set(players)
    return numbered([[bot for bot in players if bot not in lost], [bot for bot in players if bot in lost]])


def stated_ranks(state: Mapping[str, Any], players: Sequence[str]) -> list[list[str]] | None:
    """Returns the `places` of a final state (games/README.md), missing players last; None if absent or malformed."""
    stated = state.get("places")
    if stated is None or problem_of_places(stated, players):
        return None
    named = [bot for rank in stated for bot in rank]
    return [*stated, [bot for bot in players if bot not in named]]


def stated_scores(state: Mapping[str, Any], players: Sequence[str]) -> dict[str, int] | None:
    """Returns bot -> score from the `scores` of a final state, `[{"name", "score"}]`; None if absent or malformed."""
    stated = state.get("scores")
    if stated is None or problem_of_scores(stated, players):
        return None
    scores = {row["name"]: row["score"] for row in stated}
    return {bot: scores[bot] for bot in players if bot in scores}


def numbered(ranks: Ranks) -> dict[str, int]:
    """Returns bot -> its rank's number: one more than the number of bots in the ranks before its own."""
    numbers: dict[str, int] = {}
    for rank in ranks:
        numbers |= dict.fromkeys(rank, len(numbers) + 1)
    return numbers
