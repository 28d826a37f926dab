"""Leaves rated matches about half of a worker's time: whoever begins an unrated one chooses how much it computes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

import gevent
from gevent.lock import BoundedSemaphore

from battlebot.runtime.cooperative import MOST_S, YIELD_S

NAP_S = 0.1  # a longer pause is made of several, as the worker may be told to stop meanwhile
LATELY_S = 10.0  # for how long rated matches count as being there: between two turns the worker knows nothing of them

Made = TypeVar("Made")


class Pace:
    """The pace of the unrated matches of a worker."""

    def __init__(self) -> None:
        self._turn = BoundedSemaphore(1)
        # what they have computed since the last pause
        self._owed_s = 0.0
        self._rated_s = -math.inf
        self._stopped = False

    def stop(self) -> None:
        """Ends the pauses."""
        self._stopped = True

    def note_rated(self) -> None:
        """Notes that the worker asks in a rated match."""
        self._rated_s = time.monotonic()

    def compute(self, make: Callable[[], Made]) -> Made:
        """Returns what `make()` returns, which computes for an unrated match, and waits for nobody.

        If unrated matches have computed for `MOST_S` since the last pause, there is one first: for as long as they have
        computed if a rated match has been there lately, else for a moment. Those who come meanwhile wait in line.
        """
        while self._owed_s >= MOST_S and not self._stopped:
            with self._turn:
                self._pause()
        began_s = time.thread_time()
        try:
            return make()
        finally:
            self._owed_s += time.thread_time() - began_s

    def _pause(self) -> None:
        owed_s = self._owed_s
        if owed_s < MOST_S or self._stopped:
            # while it was in line, another has made the pause, and has not computed yet
            return
        if time.monotonic() - self._rated_s < LATELY_S:
            owed_s = min(owed_s, NAP_S)
            gevent.sleep(owed_s)
        else:
            gevent.sleep(YIELD_S)
        self._owed_s -= owed_s
