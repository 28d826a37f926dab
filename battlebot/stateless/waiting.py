"""Waiting for what comes over a connection: for as long as a clock has time left, whatever the wall's clock says."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from battlebot.stateless.clock import Clock
from battlebot.stateless.tls import Connection, Step, Tls

CROWDED_S = 0.05  # after so long without a byte over a new connection, a kept one may be in its way
IN_VAIN = (TimeoutError, BlockingIOError)
LAST_STEPS = 8  # of TLS, when the time is over

Peer = tuple[str, int]  # the address and the port to which a connection goes, by whatever name
T = TypeVar("T")


class Rooms(Protocol):
    """What keeps connections, and can do without some."""

    def make_room(self, waiting: Waiting) -> None:
        """Closes one that may be in the way of this question."""

    def forget(self, waiting: Waiting) -> None:
        """Nothing is to be closed for it any more."""


class Waiting:
    """A question over a new connection, from before it is made to the first byte of the answer; `over` must follow.

    `peer` is to whom it goes, once the connection is made: until then there is no room to be made for it.

    It may be that the bot's server comes to it only when another connection ends, which we keep. So each wait in vain,
    each twice as long as the one before, has one closed: no more, for it may be that just the bot is slow.
    """

    def __init__(self, rooms: Rooms) -> None:
        self.peer: Peer | None = None
        self.wait_s = CROWDED_S
        self._rooms = rooms

    def goes_to(self, peer: Peer) -> None:
        """It is connected; not for the first time where the name has another address that did not serve."""
        self._rooms.forget(self)
        self.peer = peer

    def in_vain(self) -> None:
        """Nothing has come for `wait_s`."""
        self.wait_s *= 2
        self._rooms.make_room(self)

    def over(self) -> None:
        """The first byte has come, or none will."""
        self._rooms.forget(self)


def persist(connection: Connection, clock: Clock, action: Callable[[], T], waiting: Waiting | None = None) -> T:
    """What an action over the connection gives, which may be begun again, while the clock (started) has time left.

    Where it has none the action is tried once more, without waiting: this process may have been paused, and what came
    in time lie there unread. Then raises TimeoutError. What TLS works for it is the bot's time, and others have their
    turn between its steps.
    """
    steps_left = LAST_STEPS
    while True:
        left_s = max(clock.left_s(), 0.0)
        crowded = waiting if waiting is not None and waiting.wait_s < left_s else None
        connection.settimeout(left_s if crowded is None else crowded.wait_s)
        before_s = connection.work_s if isinstance(connection, Tls) else 0.0
        try:
            return action()
        except Step:
            steps_left -= not left_s
            if not steps_left:
                raise TimeoutError from None
            time.sleep(0)
        except IN_VAIN:
            # by the wall's clock, of which some was this process's own lateness
            if not left_s:
                raise TimeoutError from None
            if crowded is not None:
                crowded.in_vain()
        finally:
            if isinstance(connection, Tls):
                clock.worked(connection.work_s - before_s)
