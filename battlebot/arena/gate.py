"""Where one greenlet waits for another, for processes whose threads are all greenlets of one hub."""

from __future__ import annotations

from typing import Any

from gevent import get_hub, getcurrent


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
