"""What is wrong for long is told now and then, not each time that somebody looks. One a process."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

EVERY_S = 60.0
REMEMBERED = 10_000


class Seldom:
    """Called with a thing, it says whether that may be told of: once in `EVERY_S`."""

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
