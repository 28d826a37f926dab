"""The meetings needed to pair bots of an open contest that have all met: few, however long its history."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from battlebot.storage.meetings import FEW, Meetings, in_time


def acquaintance(meetings: Meetings, game: str, contest: str, waiting: Sequence[str]) -> list[dict[str, Any]] | None:
    """Returns the meetings that decide how these bots are paired, oldest first; None unless every two have met.

    These are the meetings between them, and each bot's latest, which shows rematches. How often bots moved first, and
    who moved first in a void meeting, matters only to two that have never met. Also None for fewer than two bots or
    more than FEW. Raises Unavailable.
    """
    if not 2 <= len(waiting) <= FEW:
        return None
    rows = meetings.between(game, contest, waiting)
    if len({frozenset(row["bots"]) for row in rows}) < comb(len(waiting), 2):
        return None
    # two bots have no choice, whoever their last opponents were
    latest = meetings.latest(game, contest, waiting) if len(waiting) > 2 else []
    return sorted({row["_id"]: row for row in (*rows, *latest)}.values(), key=in_time)
