"""In which order the players of a match finished: by what the game says of it, else by who lost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from battlebot.referee.match import Match, Reason
from battlebot.rules.order import problem_of_places, problem_of_scores

Ranks = Iterable[Iterable[str]]


def places_of(match: Match) -> dict[str, int]:
    """bot -> place from 1, equal ones share it (1, 2, 2, 4), of a match that is over.

    Whom the game's `places` leave out comes last. A match that did not end by its rules has a first and a last place:
    who ran out of time, or was gone, has lost.
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
    """The `places` of a final state, as games/README.md has them, whoever is missing last; None if there are none."""
    stated = state.get("places")
    if stated is None or problem_of_places(stated, players):
        return None
    named = [bot for rank in stated for bot in rank]
    return [*stated, [bot for bot in players if bot not in named]]


def stated_scores(state: Mapping[str, Any], players: Sequence[str]) -> dict[str, int] | None:
    """bot -> score of the `scores` of a final state, `[{"name", "score"}]`; None if there are none."""
    stated = state.get("scores")
    if stated is None or problem_of_scores(stated, players):
        return None
    scores = {row["name"]: row["score"] for row in stated}
    return {bot: scores[bot] for bot in players if bot in scores}


def numbered(ranks: Ranks) -> dict[str, int]:
    """bot -> its place: one more than how many stand before its rank."""
    places: dict[str, int] = {}
    for rank in ranks:
        place = len(places) + 1
        places |= dict.fromkeys(rank, place)
    return places
