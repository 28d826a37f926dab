"""One bot's connection as the arena sees it: where it is, what its clock says, how to tell it something."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from battlebot.wire.closing import Closing
from battlebot.wire.login import Login

if TYPE_CHECKING:
    from battlebot.arena.service import Table


class Channel(Protocol):
    """What a door gives the arena. Neither method blocks, neither raises; both may be called by any greenlet."""

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a message; `on_written(monotonic)` is called when it has been written to the socket."""

    def close(self, closing: Closing) -> None:
        """Closes the connection after what is queued."""


class Player:
    """A logged-in connection. `place` is a new one for each wait, so that what concerns an old seat finds nobody."""

    def __init__(self, login: Login, channel: Channel, connection: str) -> None:
        self.login = login
        self.channel = channel
        self.table: Table | None = None
        self.place = ""
        self.waiting_since_s = 0.0
        self.finished_matches = 0
        self.gone = False
        self.watched_until_s: float | None = None
        self._connection = connection
        self._waits = 0
        self.forget_clock()

    @property
    def bot(self) -> str:
        """The bot's id."""
        return self.login.bot_id

    def new_place(self, node: str, now_s: float) -> str:
        """A place of its own for the next seat, and the moment (epoch) since when the bot waits for it."""
        self._waits += 1
        self.place = f"{node}/{self._connection}.{self._waits}"
        self.waiting_since_s = now_s
        return self.place

    def forget_clock(self) -> None:
        """Nothing is asked of the bot."""
        self.asked_version = -1
        self.asked_s: float | None = None
        self.remaining_s = 0.0
        self.last_revision = -1

    def tell(self, text: str, revision: int, version: int, asks: bool, remaining_s: float) -> None:
        """Sends an update unless a newer one has been sent. If it `asks`, the clock starts when it is written.

        The clock of a question that was put before goes on: a repeated answer gives no time.
        """
        if revision < self.last_revision:
            return
        self.last_revision = revision
        if asks and version == self.asked_version and self.asked_s is not None and remaining_s >= self.remaining_s:
            self.channel.send(text)
            return
        if not asks:
            self.asked_version = -1
            self.asked_s = None
            self.channel.send(text)
            return
        self.asked_version, self.asked_s, self.remaining_s = version, None, remaining_s

        def start_clock(written_s: float) -> None:
            if self.last_revision == revision and self.asked_s is None:
                self.asked_s = written_s
                if self.table is not None:
                    self.table.clock_started(self)

        self.channel.send(text, start_clock)

    def thinking_s(self, until_s: float | None = None) -> float:
        """Seconds of the bot's own since its update was written; 0 if nothing is asked of it."""
        if self.asked_s is None:
            return 0.0
        return max(0.0, (time.monotonic() if until_s is None else until_s) - self.asked_s)
