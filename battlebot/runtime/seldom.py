"""Limits how often a lasting problem is told, however often it is found. One limiter per process."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

EVERY_S = 60.0
REMEMBERED = 10_000


class Seldom:
    """Called with a thing, returns whether to tell of it now: once per `EVERY_S` seconds."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._told: dict[Hashable, float] = {}

    def __call__(self, thing: Hashable) -> bool:
        now_s = self._now_s()
        if now_s - self._told.get(thing, float("-inf")) < EVERY_S:
            return False
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told[thing] = now_s
        return True
