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
from battlebot.runtime.loglimit import LogLimit

log = structlog.get_logger()

LOOK_EVERY_S = 1.0
# A step of up to so much is spread: a bot that is away just then must not be charged for it, nor missed by it. A longer
# one is seen by the heartbeats, as an outage.
SPREAD_S = 5.0
SPREAD_OVER = 10.0  # a step of one second is spread over ten
TOLD_S = 1.0  # by how much a machine's clock may be off before the log says so
AGREES_S = 0.5  # by how much it may still be off when the log says that it is right again


class SharedTime:
    """A clock elsewhere, followed by the monotonic one: between looks, and when a look cannot tell, this goes on."""

    def __init__(
        self, steady_s: Callable[[], float] = time.monotonic, machine_s: Callable[[], float] = time.time
    ) -> None:
        self._steady_s = steady_s
        self._machine_s = machine_s
        self._ahead_s: float | None = None
        self._unsure_s = 0.0  # by how much it may be wrong because all looks so far were slow
        self._looked_s = 0.0

    @property
    def is_known(self) -> bool:
        """Whether the clock elsewhere has been read."""
        return self._ahead_s is not None

    def now_s(self) -> float:
        """Returns the time, in seconds since the epoch."""
        return self._machine_s() if self._ahead_s is None else self._steady_s() + self._ahead_s

    def look(self, read: Callable[[], float]) -> tuple[float, float]:
        """Compares the time with that which `read()` returns; returns how much the machine's is ahead of that.

        That is two values, between which it is. The time changes only if it cannot be right: what it took to read the
        other one proves nothing. Raises what `read` raises.
        """
        before_s, machine_s = self._steady_s(), self._machine_s()
        there_s = read()
        after_s = self._steady_s()
        least_s, most_s = there_s - after_s, there_s - before_s
        if self._ahead_s is None:
            # the machine's is right, as far as that is possible
            self._ahead_s = min(max(machine_s - before_s, least_s), most_s)
            self._unsure_s = most_s - least_s
        else:
            wrong_s = min(max(self._ahead_s, least_s), most_s) - self._ahead_s
            if abs(wrong_s) <= SPREAD_S:
                # what the looks so far did not know is no step
                at_once_s = min(after_s - self._looked_s, 2 * LOOK_EVERY_S) / SPREAD_OVER + self._unsure_s
                wrong_s = min(max(wrong_s, -at_once_s), at_once_s)
            self._ahead_s += wrong_s
            self._unsure_s = min(self._unsure_s, most_s - least_s)
        self._looked_s = after_s
        apart_s = machine_s - there_s
        return apart_s, apart_s + after_s - before_s


_SHARED = SharedTime()
_beginning = threading.Lock()
_followed_in = 0  # the process in which a thread looks: none goes on in a forked one


def now_s() -> float:
    """Returns the time that all processes share, in seconds since the epoch."""
    return _SHARED.now_s()


def now() -> datetime:
    """Returns the time that all processes share, in UTC."""
    return datetime.fromtimestamp(now_s(), UTC)


def check() -> None:
    """Raises Unavailable if this process follows a clock that it has not read yet: its own may be wrong by days."""
    if _followed_in == os.getpid() and not _SHARED.is_known:
        raise Unavailable("Redis has not told the time yet.")


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
        teller.note(*_SHARED.look(read))
    except Unavailable:
        # the time goes on; that Redis is away is told by others
        pass
    except Exception as error:
        teller.failed(error)


class _Teller:
    """Logs that the machine's clock is off, once, and that it is right again."""

    def __init__(self) -> None:
        self._is_apart = False
        self._may_tell = LogLimit()

    def note(self, least_s: float, most_s: float) -> None:
        """The machine's clock is ahead by something between these."""
        if not self._is_apart and (least_s > TOLD_S or most_s < -TOLD_S):
            self._is_apart = True
            log.warning("clock.apart", ahead_s=round(least_s if least_s > 0 else most_s, 1))
        elif self._is_apart and least_s > -AGREES_S and most_s < AGREES_S:
            self._is_apart = False
            log.info("clock.agrees")

    def failed(self, error: Exception) -> None:
        """The clocks could not be compared, for a reason that none of us expects."""
        if self._may_tell("look"):
            log.error("clock.not_compared", exc_info=error)
