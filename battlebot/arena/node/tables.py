"""The tables of a node: which players sit at which live match, and who waits for one. Nothing is decided here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from battlebot.arena.live.calls import decode_match
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.errors import UnreadableMatch
from battlebot.referee.events import Left, Orphaned
from battlebot.referee.match import Match
from battlebot.runtime.lock import Lock
from battlebot.wire import closing

REMEMBERED = 10_000  # departures: those of the last minutes at least


class Table:
    """A live match of which this node holds at least one seat.

    The lock orders what the node does with it: whoever holds it steps, commits and delivers. A player calls `on_clock`
    when the update that asks it has been written: its clock runs.
    """

    def __init__(self, match_id: str, store: MatchStore, on_clock: Callable[[Player], None], lock: Lock) -> None:
        self.match_id = match_id
        self.lock = lock
        self.match: Match | None = None
        self.document: str | None = None
        self._document_revision = -1
        self.players: dict[str, Player] = {}
        self.on_clock = on_clock
        self._store = store

    def newest(self) -> Match:
        """Returns the match as this node knows it, or else as it stands in Redis. Raises as `load`."""
        if self.known() is None:
            self.match = self._store.load(self.match_id)
        assert self.match is not None
        return self.match

    def known(self) -> Match | None:
        """Returns the match as this node knows it, without asking Redis; None if it knows nothing.

        Raises UnreadableMatch if another version wrote what a letter brought.
        """
        if self.document is not None:
            self.match, self.document = decode_match(self.document), None
        return self.match

    def readable(self) -> Match | None:
        """Like `known`, but returns None for a match that cannot be read."""
        try:
            return self.known()
        except UnreadableMatch:
            return None

    @property
    def revision(self) -> int:
        """The revision of what this node knows of the match; -1 if it knows nothing."""
        if self.document is not None:
            return self._document_revision
        return -1 if self.match is None else self.match.revision

    def take(self, document: str, revision: int) -> None:
        """Takes the match that a letter brings, unless this node knows a newer revision: letters may be late."""
        if revision >= self.revision:
            self.document, self._document_revision = document, revision

    def forget(self) -> None:
        """Forgets what this node knows of the match."""
        self.match = self.document = None

    def load(self) -> Match:
        """Loads the match from Redis; returns what this node knows if Redis has lost revisions that its bots were told.

        The next commit finds that out and ends the match. Raises UnknownMatch, UnreadableMatch, Unavailable.
        """
        found, held = self._store.load(self.match_id), self.known()
        if held is None or found.revision >= held.revision:
            self.match = held = found
        return held


class Tables:
    """All tables of a node. `on_clock(player)` is called when a seated player's clock starts.

    `new_lock` makes the lock of a table.
    """

    def __init__(self, store: MatchStore, on_clock: Callable[[Player], None], new_lock: Callable[[], Lock]) -> None:
        self._store = store
        self._on_clock = on_clock
        self._new_lock = new_lock
        self._tables: dict[str, Table] = {}
        self._expected: dict[str, Player] = {}
        self._seated: dict[str, Player] = {}
        self._departed: OrderedDict[str, Left | Orphaned] = OrderedDict()
        self._guard = threading.Lock()

    def expect(self, player: Player) -> None:
        """Notes that the player waits at `player.place` for a match to begin."""
        self._expected[player.place] = player

    def depart(self, event: Left | Orphaned) -> None:
        """Notes that a place is left for good. A match may still have been made with it a moment before."""
        self._expected.pop(event.place, None)
        self._departed[event.place] = event
        if len(self._departed) > REMEMBERED:
            self._departed.popitem(last=False)

    def departed(self, bot: str, place: str) -> Left | Orphaned:
        """Returns how the bot left a place; if that is not remembered, Orphaned, as this is the server's own fault."""
        return self._departed.get(place) or Orphaned(bot, place, "unknown-place")

    def expected(self, place: str) -> Player | None:
        """Returns the player that waits at a place, or None."""
        return self._expected.get(place)

    def all(self) -> list[Table]:
        """Returns the tables as they are now."""
        return list(self._tables.values())

    def seated(self, place: str) -> Player | None:
        """Returns the player that sits at a table and has this place, or None."""
        return self._seated.get(place)

    def elsewhere(self, place: str, match_id: str) -> Table | None:
        """Returns another match's table where this place's player sits: the previous board, its end not told yet."""
        player = self._seated.get(place)
        table = None if player is None else player.table
        return None if table is None or table.match_id == match_id else table

    def find(self, match_id: str) -> Table | None:
        """Returns the table of a match, None if this node has none."""
        return self._tables.get(match_id)

    @contextmanager
    def at(self, match_id: str) -> Iterator[Table]:
        """Yields the table of a match, made if there is none, with its lock held; drops it at the end if it is empty.

        While this waits for the lock, the table may be dropped and another made, so it looks again: with two tables of
        one match, players at one would never be told what is done at the other.
        """
        while True:
            table = self._found_or_made(match_id)
            with table.lock:
                if self._tables.get(match_id) is not table:
                    continue
                try:
                    yield table
                finally:
                    self.drop_if_empty(table)
                return

    @contextmanager
    def at_once(self, match_id: str) -> Iterator[Table | None]:
        """Like `at`, but yields None if that would wait for the lock."""
        table = self._found_or_made(match_id)
        if not table.lock.lend():
            yield None
            return
        with table.lock.keep():
            try:
                yield table if self._tables.get(match_id) is table else None
            finally:
                self.drop_if_empty(table)

    def _found_or_made(self, match_id: str) -> Table:
        with self._guard:
            table = self._tables.get(match_id) or Table(match_id, self._store, self._on_clock, self._new_lock())
            self._tables[match_id] = table
        return table

    def seat(self, table: Table, player: Player) -> None:
        """Seats the player at the table; another connection of its bot that sat there is closed."""
        self._expected.pop(player.place, None)
        other = table.players.get(player.bot)
        if other is not None and other is not player:
            self.unseat(table, other)
            other.channel.close(closing.TAKEN_OVER)
        with self._guard:
            self._tables[table.match_id] = table
        if player.table is not table:
            player.forget_clock()
            player.table = table
        table.players[player.bot] = self._seated[player.place] = player

    def unseat(self, table: Table, player: Player) -> None:
        """Removes the player from the table."""
        if table.players.get(player.bot) is player:
            del table.players[player.bot]
        if self._seated.get(player.place) is player:
            del self._seated[player.place]
        player.table = None
        player.forget_clock()

    def drop_if_empty(self, table: Table) -> None:
        """Drops a table at which nobody sits. Call with its lock held."""
        with self._guard:
            if not table.players and self._tables.get(table.match_id) is table:
                del self._tables[table.match_id]
