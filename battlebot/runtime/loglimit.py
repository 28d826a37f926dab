"""Limits how often a lasting problem is logged, however often it is found. Each process counts by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

EVERY_S = 60.0
REMEMBERED = 10_000


class LogLimit:
    """Called with a thing, returns whether to log it now: once per `EVERY_S` seconds."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._logged: dict[Hashable, float] = {}

    def __call__(self, thing: Hashable) -> bool:
        now_s = self._now_s()
        if now_s - self._logged.get(thing, float("-inf")) < EVERY_S:
            return False
        if len(self._logged) >= REMEMBERED:
            self._logged.clear()
        self._logged[thing] = now_s
        return True
