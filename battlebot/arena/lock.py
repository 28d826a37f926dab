"""The lock of a table: whoever holds it may take it again, and it can be lent to work that goes on elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol


class Semaphore(Protocol):
    """Of one place: what threads, or greenlets, wait at."""

    def acquire(self, blocking: bool = True) -> Any:
        """Takes the place; False if it is taken and `blocking` is False."""

    def release(self) -> Any:
        """Gives the place back, whoever has taken it."""


class Lock:
    """Held by a thread or greenlet, `who` says by which one; or lent, and then held by nobody.

    What is lent is given back, or kept, by whoever has been told of it.
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
        """Takes the lock for nobody in particular; False if it is not free, also where the caller holds it."""
        return bool(self._free.acquire(False))

    def give_back(self) -> None:
        """Ends what `lend` began."""
        self._free.release()

    def keep(self) -> Lock:
        """What was lent is the caller's from now on: to be used in a `with` statement, whose end releases it."""
        self._holder, self._depth = self._who(), 0
        return self


def thread_lock() -> Lock:
    """A lock for threads."""
    return Lock(threading.Semaphore(1), threading.get_ident)
