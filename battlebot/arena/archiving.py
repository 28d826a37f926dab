"""A finished match in the shape in which it is stored: the seeds' fields, and ours under `match`. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from battlebot.arena.store import Ended
from battlebot.referee.advance import MARKS
from battlebot.referee.match import Match, Series
from battlebot.referee.places import places_of, stated_scores


def game_document(ended: Ended) -> dict[str, Any]:
    """The document of the collection `games`: the final state without `complete` and `nextPlayer`, and about it."""
    match = ended.match
    verdict = match.verdict
    assert verdict is not None
    state = {key: value for key, value in match.state.items() if key not in ("complete", "nextPlayer")}
    return {
        **state,
        "_id": match.id,
        "game": match.game,
        "contest": match.contest,
        "players": [seat.bot for seat in match.seats],
        "victor": verdict.victor,
        "reason": verdict.reason.value,
        "startTime": _moment(match.started_s),
        "turns": [row["turn"] for row in ended.turns],
        "match": {
            "seq": ended.seq,
            "endTime": _moment(ended.seq / 1_000_000),
            "fault": verdict.fault.value,
            "void": verdict.void,
            **({} if match.rated else {"unrated": True}),
            "evidence": verdict.evidence,
            **({} if match.series is None else {"series": _series(match.series)}),
            **_order(match),
            "strikes": {seat.bot: seat.strikes for seat in match.seats if seat.strikes},
            "clocks": [row["thinkingMs"] for row in ended.turns],
            "serverMs": [row.get("serverMs") for row in ended.turns],
            **{mark: numbers for mark in MARKS if (numbers := _marked(ended.turns, mark))},
            "version": match.version,
            "options": match.options,
            "seed": match.seed,
            "turnTimeoutMs": round(match.limits.turn_timeout_s * 1000),
        },
    }


def _order(match: Match) -> dict[str, Any]:
    """`places` where not two have played, and `scores` where the game has some, each bot to number."""
    order: dict[str, Any] = {} if len(match.seats) == 2 else {"places": places_of(match)}
    scores = stated_scores(match.state, [seat.bot for seat in match.seats])
    return order if scores is None else {**order, "scores": scores}


def _marked(turns: list[dict[str, Any]], mark: str) -> list[int]:
    """The numbers, from 1, of the entries of a record that are no turn of a bot but what the mark says."""
    return [number for number, row in enumerate(turns, start=1) if row.get(mark)]


def _series(series: Series) -> dict[str, Any]:
    row = {"id": series.id, "board": series.board, "boards": series.boards, "number": series.number}
    return {**row, "passwordless": list(series.passwordless)}


def _moment(epoch_s: float) -> datetime:
    return datetime.fromtimestamp(epoch_s, UTC)
