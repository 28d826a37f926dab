"""Limits per connection, bot and address at one node. No I/O."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from battlebot.errors import TooMany
from battlebot.runtime.counting import Tally, Windows

HOUR_S = 3600.0


class Rate:
    """A token bucket: `per_s` messages a second on average, twice as many in a burst. An update gives one back."""

    def __init__(self, per_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._now_s = now_s
        self._tokens = 2 * per_s
        self._at_s = now_s()

    def take(self) -> bool:
        """Counts one more message; returns whether it is within the limit."""
        now_s = self._now_s()
        self._tokens = min(2 * self._per_s, self._tokens + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._tokens -= 1
        return self._tokens >= 0

    def give_back(self) -> None:
        """Allows one message more: the peer was sent an update, and may answer it."""
        self._tokens += 1


class ConnectionLimit:
    """Limits the connections of each key (an address, a bot) at this node. `what` names the key in errors."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._held = Tally()

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        """Counts a connection within the `with` block. Raises TooMany."""
        if self._held[key] >= self._limit:
            raise TooMany(f"Too many connections of one {self._what}.")
        self._held[key] += 1
        try:
            yield
        finally:
            self._held.take_off(key)


class NewNames:
    """Limits how many names nobody has said before an address says in an hour: something is stored for each of them."""

    REMEMBERED = 100_000

    def __init__(self, most: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._counts = Windows(most, HOUR_S, now_s)
        self._said: OrderedDict[str, None] = OrderedDict()

    def say(self, name: str, address: str) -> None:
        """Notes that the address says the name. Raises TooMany, if it is a new one."""
        if name not in self._said and self._counts.take(address):
            raise TooMany("Your address has said too many new names; try again later.")
        self._said[name] = None
        self._said.move_to_end(name)
        if len(self._said) > self.REMEMBERED:
            self._said.popitem(last=False)


class ReloginBackoff:
    """Slows down peers that keep logging in without playing, as original clients do without a pause."""

    WINDOW_S = 10.0
    STEP_S = 0.05
    REMEMBERED = 100_000

    def __init__(self, free: int, longest_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._free = free
        self._longest_s = longest_s
        self._now_s = now_s
        self._fruitless: dict[str, tuple[int, float]] = {}

    def delay_s(self, key: str) -> float:
        """Returns how many seconds the reply to this login should wait."""
        count, since_s = self._fruitless.get(key, (0, 0.0))
        if self._now_s() - since_s > self.WINDOW_S or count < self._free:
            return 0.0
        return min(self._longest_s, self.STEP_S * 2.0 ** min(count - self._free, 10))

    def fruitless(self, key: str) -> None:
        """Notes that a connection of this key ended without a finished match, or that its login failed."""
        count, since_s = self._fruitless.pop(key, (0, 0.0))
        if self._now_s() - since_s > self.WINDOW_S:
            count = 0
        self._fruitless[key] = (count + 1, self._now_s())
        if len(self._fruitless) > self.REMEMBERED:
            self._fruitless.pop(next(iter(self._fruitless)))

    def played(self, key: str) -> None:
        """Notes that a connection of this key has finished a match."""
        self._fruitless.pop(key, None)
