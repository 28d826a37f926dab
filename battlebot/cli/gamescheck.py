"""Finds and tries games and contest formats before a part starts that needs them: a broken one is one clear line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from battlebot.errors import BadFormat, BadGame, EmbeddedError
from battlebot.runtime.timelimit import time_limit

LIMIT_S = 20.0  # a hundred times as long as the games of the house take


def check_formats() -> None:
    """Raises BadFormat if there is a contest format that a part could not load."""
    from battlebot.contests.formats import format_names

    format_names()


def check_games() -> None:
    """Raises BadFormat like `check_formats`, and BadGame as `discover` does.

    Also if a function of a game does not return within `LIMIT_S`.
    """
    from battlebot.rules.registry import discover

    check_formats()
    with time_limit(LIMIT_S):
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
