"""Counting by key: what there is now, and what came within a window of time. No I/O."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable


class Tally(Counter[str]):
    """What there is of each key; a key of which there is nothing is not kept."""

    def take_off(self, key: str, count: int = 1) -> None:
        """Counts so many less."""
        self[key] -= count
        if not self[key]:
            del self[key]


class Windows:
    """Counts up to `most` of each key in `window_s` seconds, from the key's first count on.

    To count costs the same however many keys there are: for each, flask-limiter's counter in memory looks at all.
    """

    def __init__(self, most: int, window_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._window_s = window_s
        self._now_s = now_s
        # until when, and how many; first whose window ends first
        self._counted: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, key: str) -> float:
        """Counts one more; returns 0.0 if it is within the limit, else the seconds until the key's next window."""
        now_s = self._now_s()
        while self._counted and next(iter(self._counted.values()))[0] <= now_s:
            self._counted.popitem(last=False)
        until_s, count = self._counted.get(key, (now_s + self._window_s, 0))
        self._counted[key] = (until_s, count + 1)
        return 0.0 if count < self._most else until_s - now_s
