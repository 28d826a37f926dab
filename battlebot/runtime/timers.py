"""Calls back at given moments: one thread and one heap for a whole process. What is called must be quick."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

from battlebot.runtime.background import logging_failure


class Timers:
    """Moments are on the monotonic clock. Nothing cancels a callback: it finds out by itself if it is not wanted."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._run, name="timers", daemon=True).start()

    def at(self, moment_s: float, call: Callable[[], None]) -> None:
        """Calls `call()` at `moment_s` (monotonic) or soon after."""
        with self._changed:
            heapq.heappush(self._heap, (moment_s, next(self._order), call))
            if self._heap[0][2] is call:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap or self._heap[0][0] > time.monotonic():
                    wait_s = self._heap[0][0] - time.monotonic() if self._heap else None
                    self._changed.wait(wait_s)
                _, _, call = heapq.heappop(self._heap)
            logging_failure(call)


class Throttle:
    """Calls `call()` at once, but never twice within `every_s`: requests meanwhile become one trailing call."""

    def __init__(self, call: Callable[[], None], timers: Timers, every_s: float) -> None:
        self._call = call
        self._timers = timers
        self._every_s = every_s
        self._next_s = 0.0
        self._guard = threading.Lock()

    def __call__(self) -> None:
        """Asks for a call."""
        now_s = time.monotonic()
        with self._guard:
            if self._next_s > now_s + self._every_s:
                return  # a call is scheduled
            at_s, self._next_s = self._next_s, max(self._next_s, now_s) + self._every_s
        if at_s <= now_s:
            self._call()
        else:
            self._timers.at(at_s, self._call)
