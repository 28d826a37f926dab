"""A limit for code that may never return, as a game's may."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raises TimeoutError in what runs when the time is over: in the game, so that the error is told as the game's.

    Works in the main thread, where signals arrive; in another it has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done within {limit_s:.3g} seconds")

    before = signal.signal(signal.SIGALRM, interrupt)
    others = signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *others)
