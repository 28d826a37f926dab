"""Where one greenlet waits for another, for processes whose threads are all greenlets of one hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gevent import get_hub, getcurrent, spawn
from gevent.lock import Semaphore

from battlebot.arena.lock import Lock


def in_greenlet(work: Callable[..., None], *arguments: Any) -> None:
    """Has the work done in a greenlet of its own, when the hub has its turn."""
    spawn(work, *arguments)


def greenlet_lock() -> Lock:
    """A lock for greenlets, at less than one for threads costs."""
    return Lock(Semaphore(1), getcurrent)


class Gate:
    """One greenlet waits, once, for another to open it: a semaphore of 0 at half its price.

    It must be waited at before it is opened.
    """

    __slots__ = ("_waits",)

    def __init__(self) -> None:
        self._waits: Any = None

    def acquire(self) -> None:
        """Waits until the gate is opened."""
        self._waits = getcurrent()
        try:
            get_hub().switch()
        finally:
            # who was thrown out meanwhile waits for something else by now
            self._waits = None

    def release(self) -> None:
        """Opens it; who waits goes on when the hub has its turn."""
        get_hub().loop.run_callback(self._let_go)

    def _let_go(self) -> None:
        if self._waits is not None:
            self._waits.switch()
