"""A finished match turn by turn, as its pages show it. Pure; the rules' part is `referee.replay`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog

from battlebot.errors import UnknownMatch
from battlebot.referee.replay import states
from battlebot.rules.contract import Game

MOST_TURNS = 1000  # of a match that is replayed for a page: it must not keep the node from the bots
MOST_TOLD = 100_000  # of one whose story is told bit by bit: 64 players and 1,500 ticks

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Place:
    """Where one is in a match: after `turn` of its `turns`."""

    turn: int
    turns: int


def can_be_replayed(record: Mapping[str, Any]) -> bool:
    """Whether a stored match has what a replay needs, and is short enough for a page."""
    about = record.get("match") or {}
    return 0 < len(record["turns"]) <= MOST_TURNS and "seed" in about and "options" in about


def frames(game: Game, record: Mapping[str, Any], turn: int) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The states before and after that turn (0: the beginning, and nothing before it). Raises UnknownMatch."""
    if not can_be_replayed(record) or turn > len(record["turns"]):
        raise UnknownMatch("There is no such turn of this match, or it cannot be replayed for a page.")
    try:
        seen = list(islice(states(game, record), turn + 1))
    except Exception:
        # an older version of the game may have played it
        raise UnknownMatch("By its rules of now this match cannot be replayed.") from None
    return seen[-2] if turn else None, seen[-1]


def has_a_story(record: Mapping[str, Any]) -> bool:
    """Whether the match's story can be told: its states have events, and it is not too long."""
    about = record.get("match") or {}
    return "events" in record and len(record["turns"]) <= MOST_TOLD and "seed" in about and "options" in about


def story(game: Game, record: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Of each of a match's states what events are new; all of them, where they are another list than those before.

    Ends early where the game of now cannot replay what an older version has played.
    """
    told = None
    try:
        for state in states(game, record):
            fresh = state["events"] is not told
            told = state["events"]
            yield game.view(state, None)["events"] if fresh else []
    except Exception as error:
        log.warning("match.not_told", match=record.get("_id"), error=type(error).__name__)
