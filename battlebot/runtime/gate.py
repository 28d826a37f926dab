"""Waiting of one greenlet for another, for processes whose threads are all greenlets of one hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gevent import get_hub, getcurrent, spawn
from gevent.lock import Semaphore

from battlebot.runtime.lock import Lock


def in_greenlet(work: Callable[..., None], *arguments: Any) -> None:
    """Runs the work in a greenlet of its own, in the hub's next turn."""
    spawn(work, *arguments)


def greenlet_lock() -> Lock:
    """Returns a lock for greenlets, which costs less than one for threads."""
    return Lock(Semaphore(1), getcurrent)


class Gate:
    """Lets one greenlet wait, once, until another opens it: a semaphore of 0 at half its cost.

    `acquire` must be called before `release`.
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
            # a greenlet that was interrupted may be waiting for something else: `release` must not switch to it
            self._waits = None

    def release(self) -> None:
        """Opens the gate; the waiting greenlet continues in the hub's next turn."""
        get_hub().loop.run_callback(self._let_go)

    def _let_go(self) -> None:
        if self._waits is not None:
            self._waits.switch()
