"""Waiting on a connection for as long as a `Clock` has time left, whatever the wall clock says."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from battlebot.stateless.clock import Clock
from battlebot.stateless.http.tls import Connection, Tls, Unfinished

CROWDED_S = 0.05  # if no byte comes over a new connection for this long, a kept one may be in its way
IN_VAIN = (TimeoutError, BlockingIOError)
LAST_STEPS = 8  # of TLS, when the time is over

Peer = tuple[str, int]  # the address and port that a connection goes to, whatever the name
T = TypeVar("T")


class Rooms(Protocol):
    """Keeps connections, and can close some."""

    def make_room(self, waiting: Waiting) -> None:
        """Closes a kept connection that may be in the way of this question."""

    def forget(self, waiting: Waiting) -> None:
        """Withdraws a `make_room` that is still pending."""


class Waiting:
    """A question over a new connection, from before it is made to the first byte of the answer; `over` must follow.

    `peer` is set once the connection is made; no room can be made for it before.

    The bot's server may serve it only when another connection ends, one that we keep. So each wait in vain closes one
    kept connection and doubles the next wait: no more are closed, since the bot may just be slow.
    """

    def __init__(self, rooms: Rooms) -> None:
        self.peer: Peer | None = None
        self.wait_s = CROWDED_S
        self._rooms = rooms

    def goes_to(self, peer: Peer) -> None:
        """Notes that it is connected; called again if the name's first address did not serve."""
        self._rooms.forget(self)
        self.peer = peer

    def in_vain(self) -> None:
        """Makes room, as nothing has come for `wait_s`."""
        self.wait_s *= 2
        self._rooms.make_room(self)

    def over(self) -> None:
        """Ends the wait: the first byte has come, or none will."""
        self._rooms.forget(self)


def persist(connection: Connection, clock: Clock, action: Callable[[], T], waiting: Waiting | None = None) -> T:
    """Returns what a repeatable action over the connection gives, trying while the (started) clock has time left.

    When it has none the action is tried once more, without waiting: this process may have been paused, and data that
    came in time may lie there unread. Then raises TimeoutError. TLS's CPU time is charged to the bot; others run
    between its steps.
    """
    steps_left = LAST_STEPS
    while True:
        left_s = max(clock.left_s(), 0.0)
        crowded = waiting if waiting is not None and waiting.wait_s < left_s else None
        connection.settimeout(left_s if crowded is None else crowded.wait_s)
        before_s = connection.work_s if isinstance(connection, Tls) else 0.0
        try:
            return action()
        except Unfinished:
            steps_left -= not left_s
            if not steps_left:
                raise TimeoutError from None
            # a step never waits: let other greenlets run
            time.sleep(0)
        except IN_VAIN:
            # by the wall clock, part of which may have been this process's own lateness
            if not left_s:
                raise TimeoutError from None
            if crowded is not None:
                crowded.in_vain()
        finally:
            if isinstance(connection, Tls):
                clock.worked(connection.work_s - before_s)
