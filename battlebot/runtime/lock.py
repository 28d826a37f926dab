"""The lock of a table: it is reentrant, and can be lent to work that goes on elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Semaphore(Protocol):
    """A binary semaphore, of threads or of greenlets."""

    def acquire(self, blocking: bool = True) -> Any:
        """Takes the semaphore; returns False if it is taken and `blocking` is False."""

    def release(self) -> Any:
        """Releases the semaphore, whoever has taken it."""


class Lock:
    """Held by a thread or greenlet (`who` returns the current one), or lent, and then held by nobody.

    The work to which it is lent must call `give_back` or `keep`.
    """

    __slots__ = ("_depth", "_free", "_holder", "_who")

    def __init__(self, free: Semaphore, who: Callable[[], object]) -> None:
        self._free = free
        self._who = who
        self._holder: object = None
        self._depth = 0

    def __enter__(self) -> None:
        me = self._who()
        if self._holder != me:
            self._free.acquire()
            self._holder = me
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._holder = None
            self._free.release()

    def lend(self) -> bool:
        """Takes the lock without a holder; returns False if it is not free, even if the caller holds it."""
        return bool(self._free.acquire(False))

    def give_back(self) -> None:
        """Releases a lent lock."""
        self._free.release()

    def keep(self) -> Lock:
        """Makes the caller the holder of a lent lock. Use in a `with` statement, whose end releases it."""
        self._holder, self._depth = self._who(), 0
        return self
