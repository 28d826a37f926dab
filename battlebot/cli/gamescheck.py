"""Finds and tries the games before a part starts that needs them, so that a broken game is one clear line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

LIMIT_S = 20.0  # a hundred times as long as the games of the house take


def check_games(limit_s: float = LIMIT_S) -> None:
    """Raises BadGame as `discover` does; also if a function of a game does not return within so many seconds.

    Looks where the parts look: they are started by `python -m`, which looks in the present folder first.
    """
    from battlebot.rules.registry import discover

    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        with _interrupted_after(limit_s):
            discover()
    finally:
        sys.path.remove(here)


@contextmanager
def _interrupted_after(limit_s: float) -> Iterator[None]:
    """Raises TimeoutError in what runs when the time is over: in the game, so that the error is told as the game's."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done within {limit_s:g} seconds")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
