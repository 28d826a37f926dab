"""Stored matches and meetings for tests, made as the server makes them: by referee, archive and ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.finished import Ended
from battlebot.arena.live.store import MatchStore
from battlebot.referee.events import Event, Turned
from battlebot.referee.match import Limits, Match, Seat
from battlebot.referee.step import step, with_first_due
from battlebot.rules.registry import discover
from battlebot.storage import Storage
from battlebot.storage.meetings import Meeting

START_S = 1_700_000_000.25
GAMES = discover()


def record(match: Match, recorded: Sequence[dict[str, Any]], seq: int | None = None) -> dict[str, Any]:
    """Returns a finished match as it is stored; its turns have gone through JSON, as on the way through Redis."""
    rows = json.loads(json.dumps(list(recorded)))
    return game_document(Ended(match, seq or int(START_S * 1_000_000) + 60_000_000, rows))


def entries(store: MatchStore, match_id: str) -> list[dict[str, Any]]:
    """Returns all entries of the record of a match that is in Redis."""
    return store.progress(match_id, 0, 100_000)[2]


def played(
    events: Sequence[Event],
    game: str = "numberwang",
    bots: Sequence[str] = ("a", "b"),
    contest: str | None = None,
    match_id: str = "65a1b2c3d4e5f60718293a4b",
    seq: int | None = None,
) -> dict[str, Any]:
    """Returns the record of a match with these events, half a second apart, up to its end."""
    rules, limits = GAMES[game], Limits()
    match = Match(
        id=match_id,
        game=game,
        contest=contest,
        seats=tuple(Seat(bot, f"{bot}/1", limits.turn_timeout_s) for bot in bots),
        state=rules.initial_state(bots, 7, {}),
        limits=limits,
        options=rules.options_with_defaults({}),
        seed=7,
        started_s=START_S,
    )
    match, now_s, rows = with_first_due(rules, match, START_S), START_S, []
    for event in events:
        now_s += 0.5
        answer = step(rules, match, event, now_s)
        match = answer.match
        if answer.recorded is not None:
            rows.append(answer.recorded)
    return record(match, rows, seq)


def won(bots: Sequence[str] = ("a", "b"), **about: Any) -> dict[str, Any]:
    """Returns a match of numberwang of three turns, won by the first of the bots."""
    first, second = bots
    moves = [(first, 4), (second, 3), (first, 5)]
    return played([Turned(bot, {"n": n}, 0.25) for bot, n in moves], bots=bots, **about)


def reserve(storage: Storage, game: str, contest: str, wanted: Sequence[Mapping[str, Any]]) -> None:
    """Reserves meetings in a contest, which is opened if it is not there."""
    running = storage.contests.open(game, contest, 5)
    assert storage.ledger.reserve(running, [Meeting(**row) for row in wanted]) == {row["match"] for row in wanted}
