"""A finished match turn by turn, for its pages. Pure, but for the log; `referee.replay` applies the rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog

from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.replay import states
from battlebot.rules.contract import RAISED_OUTSIDE, Game
from battlebot.runtime.cooperative import cooperatively

MOST_TURNS = 1000  # of a match replayed for a page: more would delay the node's bots
MOST_TOLD = 100_000  # turns of a match whose story is streamed: 64 players and about 1,500 ticks

log = structlog.get_logger()


@dataclass(frozen=True)
class Position:
    """Where in a match: after `turn` of its `turns`."""

    turn: int
    turns: int


def can_be_replayed(record: Mapping[str, Any], turns: int) -> bool:
    """Whether a stored match of so many `turns` has the data for a replay and is short enough for a page."""
    about = record.get("match") or {}
    return 0 < turns <= MOST_TURNS and "seed" in about and "options" in about


def frames(game: Game, record: Mapping[str, Any], turn: int) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The states before and after a turn; for turn 0, None and the initial state. Raises UnknownMatch."""
    if not can_be_replayed(record, len(record["turns"])) or turn > len(record["turns"]):
        raise UnknownMatch("There is no such turn of this match, or it cannot be replayed for a page.")
    try:
        # only these two are kept: a state may hold hundreds of kilobytes
        seen = deque(cooperatively(islice(states(game, record), turn + 1)), maxlen=2)
    except RAISED_OUTSIDE:
        # the match may have been played by an older version of the game
        raise UnknownMatch("By its rules of now this match cannot be replayed.") from None
    return seen[0] if turn else None, seen[-1]


def has_a_story(record: Mapping[str, Any]) -> bool:
    """Whether `story` can replay the match: its states have events, and it is not too long. Looks at no turns."""
    about = record.get("match") or {}
    return "events" in record and about.get("version", 0) <= MOST_TOLD and "seed" in about and "options" in about


def story(game: Game, record: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield for each state of a match its new events, as viewers may see them; [] if the list is still the same object.

    The record's `turns` may be read while it is told. Ends early if the current version of the game cannot replay the
    match. Raises Unavailable.
    """
    told = None
    try:
        for state in cooperatively(states(game, record)):
            fresh = state["events"] is not told
            told = state["events"]
            yield game.view(state, None)["events"] if fresh else []
    except Unavailable:
        raise
    except RAISED_OUTSIDE as error:
        log.warning("match.not_told", match=record.get("_id"), error=type(error).__name__)
