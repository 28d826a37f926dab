"""A pass_hash that was changed: every node learns it within seconds, and turns out who logged in with the old one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.runtime import sharedtime
from battlebot.storage.bots import Bots

LOOKED_AT = 5  # ticks between two looks
# a login that was under way at one look is found at a later one; MongoDB's clock may differ by as much, too
SHOWN_FOR = timedelta(minutes=2)

TurnOut = Callable[[Mapping[str, str], float], None]


class Renewals:
    """A node's looks at the bots whose pass_hash was changed lately.

    `turn_out(known, as_of_s)`: bot -> its pass_hash at that moment (monotonic); whoever had logged in by then, with
    another one, may play no further match.
    """

    def __init__(self, bots: Bots, directory: Directory, copies: Copies, turn_out: TurnOut) -> None:
        self._bots = bots
        self._directory = directory
        self._copies = copies
        self._turn_out = turn_out
        self._ticks = 0
        self._looked: datetime | None = None  # at the latest look that told all

    def tick(self) -> None:
        """Call every second. Raises Unavailable: the next look makes up for it, however long a store is away."""
        now = sharedtime.now()
        since = self._looked = min(self._looked or self._copied_until() or now, now)
        self._ticks += 1
        if self._ticks % LOOKED_AT:
            return
        as_of_s = time.monotonic()
        if renewed := self._bots.renewed_since(since - SHOWN_FOR):
            self._turn_out(self._directory.learn(renewed), as_of_s)
            self._copies.keep(renewed)
        self._copies.note_complete(now.timestamp())
        self._looked = now

    def _copied_until(self) -> datetime | None:
        """A node that starts while MongoDB is away lets bots in by copies that no node may have looked after lately."""
        until_s = self._copies.complete_until_s()
        return None if until_s is None else datetime.fromtimestamp(until_s, UTC)
