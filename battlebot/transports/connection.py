"""What a door must offer the pump (frames with the time of their arrival, one writer, an end), and how any ends."""

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
    """The connection is over, by the peer's own doing or by ours (`clean`); else the network broke it.

    `how` is a slug: `goodbye`, `broken`, or that of the close frame by which we ended it.
    """

    def __init__(self, clean: bool, how: str) -> None:
        super().__init__(how)
        self.clean = clean
        self.how = how


class Connection(Protocol):
    """A bot's connection, over which the pump can hold a conversation."""

    address: str

    def receive(self, timeout_s: float | None) -> Frame | None:
        """The next frame; None if none came in time. Raises Gone."""

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a message; never blocks, never raises. Too many queued: the connection is closed with a code."""

    @property
    def held_up(self) -> bool:
        """Whether the peer does not read, so that what it is sent waits."""

    def close(self, closing: Closing) -> None:
        """Closes after what is queued has been written, or a time-out. Never blocks, never raises."""
