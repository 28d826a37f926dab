"""A finished match in the form in which it is stored: the originals' fields, and ours under `match`. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from battlebot.arena.live.finished import Ended
from battlebot.referee.advance import MARKS
from battlebot.referee.finishing import rank_numbers, stated_scores
from battlebot.referee.match import Match, Series


def game_document(ended: Ended) -> dict[str, Any]:
    """Returns the document for `games`: the final state less `complete` and `nextPlayer`, and facts about the match."""
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
    """Returns `places`, unless two have played, and `scores`, if the game states any; both map bot to number."""
    order: dict[str, Any] = {} if len(match.seats) == 2 else {"places": rank_numbers(match)}
    scores = stated_scores(match.state, [seat.bot for seat in match.seats])
    return order if scores is None else {**order, "scores": scores}


def _marked(turns: list[dict[str, Any]], mark: str) -> list[int]:
    """Returns the numbers, from 1, of a record's entries that have this mark, and so are not a bot's turn."""
    return [number for number, row in enumerate(turns, start=1) if row.get(mark)]


def _series(series: Series) -> dict[str, Any]:
    row = {"id": series.id, "board": series.board, "boards": series.boards, "number": series.number}
    return {**row, "passwordless": list(series.passwordless)}


def _moment(epoch_s: float) -> datetime:
    return datetime.fromtimestamp(epoch_s, UTC)
