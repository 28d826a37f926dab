"""A finished match turn by turn, as its pages show it. Pure; the rules' part is `referee.replay`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from battlebot.errors import UnknownMatch
from battlebot.referee.replay import states
from battlebot.rules.contract import Game

MOST_TURNS = 1000  # of a match that is replayed for a page: it must not keep the node from the bots


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
