"""What a door must offer the pump: frames with arrival times, one writer, an end. `Gone` is the end at every door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from battlebot.wire.closing import Closing


class Frame(msgspec.Struct, frozen=True):
    """One message of a bot. `received_s` (monotonic) is when its last bytes were read; `text` is None if binary."""

    text: str | None
    received_s: float


class Gone(Exception):
    """The connection is over: ended by the peer or by us (`clean`), or lost.

    `how` is a slug: `goodbye` if the peer ended it, `broken` if the network did, or our own reason.
    """

    def __init__(self, clean: bool, how: str) -> None:
        super().__init__(how)
        self.clean = clean
        self.how = how


class Connection(Protocol):
    """A bot's connection, as the pump needs it."""

    address: str
    parting: str | None  # a message that goes before the close frame if the peer breaks a rule of the door
    excuses: Callable[[], bool] | None  # whether the peer need not answer pings now; None: it must

    def receive(self, timeout_s: float | None) -> Frame | None:
        """Returns the next frame, or None if none came in time. Raises Gone."""

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a message; if too many are queued, closes the connection with a code. Never blocks, never raises."""

    @property
    def has_ended(self) -> bool:
        """Whether the peer has ended it, as far as is known, though it may have said something before."""

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read."""

    def close(self, closing: Closing) -> None:
        """Closes the connection after the queued messages, or after a time-out. Never blocks, never raises."""
