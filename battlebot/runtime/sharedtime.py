"""The time by which all processes go, whatever their machines' clocks say: that of Redis, without its small steps.

A process that follows no clock, or has not reached it yet, goes by its machine's.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()

LOOK_EVERY_S = 1.0
# A step of up to so much is spread: a bot that is away just then must not be charged for it, nor missed by it. A longer
# one is seen by the heartbeats, as an outage.
SPREAD_S = 5.0
SPREAD_OVER = 10.0  # a step of one second is spread over ten
TOLD_S = 1.0  # by how much a machine's clock may be off before the log says so


class SharedTime:
    """A clock elsewhere, followed by the monotonic one: between looks, and when a look cannot tell, this goes on."""

    def __init__(
        self, steady_s: Callable[[], float] = time.monotonic, machine_s: Callable[[], float] = time.time
    ) -> None:
        self._steady_s = steady_s
        self._machine_s = machine_s
        self._ahead_s: float | None = None
        self._looked_s = 0.0

    def now_s(self) -> float:
        """Returns the time, in seconds since the epoch."""
        return self._machine_s() if self._ahead_s is None else self._steady_s() + self._ahead_s

    def look(self, read: Callable[[], float]) -> float:
        """Compares the time with that which `read()` returns; returns how much the machine's is ahead of that.

        The time changes only if it cannot be right: what it took to read the other one proves nothing. Raises what
        `read` raises.
        """
        before_s, machine_s = self._steady_s(), self._machine_s()
        there_s = read()
        after_s = self._steady_s()
        least_s, most_s = there_s - after_s, there_s - before_s
        if self._ahead_s is None:
            self._ahead_s = (least_s + most_s) / 2
        else:
            wrong_s = min(max(self._ahead_s, least_s), most_s) - self._ahead_s
            if abs(wrong_s) <= SPREAD_S:
                at_once_s = (after_s - self._looked_s) / SPREAD_OVER
                wrong_s = min(max(wrong_s, -at_once_s), at_once_s)
            self._ahead_s += wrong_s
        self._looked_s = after_s
        apart_s = machine_s - there_s
        # the machine's was read first: by what it seems to be behind because of that, it is not
        return max(apart_s, min(0.0, apart_s + after_s - before_s))


_SHARED = SharedTime()
_beginning = threading.Lock()
_followed_in = 0  # the process in which a thread looks: none goes on in a forked one


def now_s() -> float:
    """Returns the time that all processes share, in seconds since the epoch."""
    return _SHARED.now_s()


def now() -> datetime:
    """Returns the time that all processes share, in UTC."""
    return datetime.fromtimestamp(now_s(), UTC)


def follow(read: Callable[[], float]) -> None:
    """Has this process go by the clock that `read()` tells (epoch) from now on; does nothing if it follows one already.

    `read` may raise Unavailable.
    """
    global _followed_in
    with _beginning:
        if _followed_in == os.getpid():
            return
        _followed_in = os.getpid()
    teller = _Teller()
    _look(read, teller)
    threading.Thread(target=_follow, args=(read, teller), name="shared time", daemon=True).start()


def _follow(read: Callable[[], float], teller: _Teller) -> None:
    while True:
        time.sleep(LOOK_EVERY_S)
        _look(read, teller)


def _look(read: Callable[[], float], teller: _Teller) -> None:
    try:
        teller.note(_SHARED.look(read))
    except Unavailable:
        # the time goes on; that Redis is away is told by others
        pass
    except Exception:
        log.exception("clock.not_compared")


class _Teller:
    """Logs that the machine's clock is off, once, and that it is right again."""

    def __init__(self) -> None:
        self._is_apart = False

    def note(self, ahead_s: float) -> None:
        apart = abs(ahead_s) > TOLD_S
        if apart and not self._is_apart:
            log.warning("clock.apart", ahead_s=round(ahead_s, 1))
        elif self._is_apart and not apart:
            log.info("clock.agrees")
        self._is_apart = apart
