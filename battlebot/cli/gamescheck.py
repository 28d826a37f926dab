"""Finds and tries games and contest formats before a part starts that needs them: a broken one is one clear line."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from battlebot.errors import BadFormat, BadGame, EmbeddedError

LIMIT_S = 20.0  # a hundred times as long as the games of the house take


def check_formats() -> None:
    """Raises BadFormat if there is a contest format that a part could not load."""
    from battlebot.contests.formats import format_names

    format_names()


def check_games(limit_s: float = LIMIT_S) -> None:
    """Raises BadFormat like `check_formats`, and BadGame as `discover` does.

    Also if a function of a game does not return within so many seconds.
    """
    from battlebot.rules.registry import discover

    check_formats()
    with _interrupted_after(limit_s):
        discover()


@contextmanager
def games_checked() -> Iterator[None]:
    """Raises BadGame or BadFormat, instead of beginning, like `check_games`; runs a server within the `with` block.

    If the server ends because a part keeps dying, looks again: the EmbeddedError that is raised names the game or the
    format that was broken meanwhile, if there is one.
    """
    check_games()
    try:
        yield
    except EmbeddedError as error:
        try:
            _forget()
            check_games()
        except (BadGame, BadFormat) as broken:
            raise EmbeddedError(f"{error} {broken}") from error
        raise


def _forget() -> None:
    for name in list(sys.modules):
        if f"{name}.".startswith(("games.", "battlebot.contests.formats.")):
            del sys.modules[name]
    importlib.invalidate_caches()


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
