"""Timers, and calls that are kept apart in time."""

from __future__ import annotations

import time
from collections.abc import Callable

from cluster import wait_for

from battlebot.runtime.timers import Throttle, Timers

EVERY_S = 0.3


def test_calls_that_are_asked_for_close_together_are_one_at_once_and_one_later() -> None:
    """Nobody's wish is forgotten, nobody's comes too soon after the last."""
    timers, calls = Timers(), list[float]()
    timers.start()
    throttle = Throttle(lambda: calls.append(time.monotonic()), timers, EVERY_S)
    began_s = time.monotonic()
    for _ in range(10):
        throttle()
    assert len(calls) == 1
    wait_for(lambda: len(calls) == 2, "the later call")
    throttle()
    wait_for(lambda: len(calls) == 3, "the call after that")
    assert calls[1] >= began_s + EVERY_S
    assert calls[2] >= began_s + 2 * EVERY_S


def test_a_call_that_nobody_was_before_comes_at_once() -> None:
    """In the greenlet or thread of who asks."""
    calls: list[int] = []
    Throttle(lambda: calls.append(1), Timers(), EVERY_S)()
    assert calls == [1]


class Noted(Timers):
    """Only notes for when it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.moments = list[float]()

    def at(self, moment_s: float, call: Callable[[], None]) -> None:
        """Does not call."""
        self.moments.append(moment_s)


def test_all_who_ask_meanwhile_get_one_call() -> None:
    """When the time is over, and no others after it."""
    timers, calls, began_s = Noted(), list[int](), time.monotonic()
    throttle = Throttle(lambda: calls.append(1), timers, 600.0)
    for _ in range(10):
        throttle()
    assert calls == [1]
    [moment_s] = timers.moments
    assert moment_s >= began_s + 600.0
