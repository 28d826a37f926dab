"""What a pairing of an open contest must know of bots that have all met: little, however much is behind them."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from battlebot.storage.meetings import FEW, Meetings, in_time


def acquaintance(meetings: Meetings, game: str, contest: str, waiting: Sequence[str]) -> list[dict[str, Any]] | None:
    """The meetings that decide who of these meets whom, where each two of them have met, oldest first; else None.

    They are those between them, and each one's latest, which tells a rematch. How often a bot moved first, and who did
    in a void meeting, matters only to two that have never met. None also where they are one, or more than FEW.
    Raises Unavailable.
    """
    if not 2 <= len(waiting) <= FEW:
        return None
    rows = meetings.between(game, contest, waiting)
    if len({frozenset(row["bots"]) for row in rows}) < comb(len(waiting), 2):
        return None
    # two have no choice, whoever was their last opponent
    latest = meetings.latest(game, contest, waiting) if len(waiting) > 2 else []
    return sorted({row["_id"]: row for row in (*rows, *latest)}.values(), key=in_time)
