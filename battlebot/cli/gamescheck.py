"""Finds and tries games and contest formats before a part starts that needs them: a broken one is one clear line.

So is another program's module that a part would load in place of one of ours.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path

from battlebot.errors import BadFormat, BadGame, EmbeddedError
from battlebot.runtime.timelimit import time_limit

LIMIT_S = 20.0  # a hundred times as long as the games of the house take
_BESIDE = ("app", "tasks", "wsgi")  # modules of ours with names that others use, too


def check_modules() -> None:
    """Raises EmbeddedError if PYTHONPATH, which comes first in each part, holds a module with the name of one of ours.

    Not for `games`: a folder of games may be given so.
    """
    ours = Path(__file__).parents[2]
    given = os.environ.get("PYTHONPATH", "")
    for folder in given.split(os.pathsep) if given else []:
        for name in _BESIDE:
            found = PathFinder.find_spec(name, [folder])
            if found and found.origin and not Path(found.origin).resolve().is_relative_to(ours.resolve()):
                # as `$PYTHONPATH:/more` has it if nothing was set
                what = folder or "the empty entry (the working directory)"
                raise EmbeddedError(f"{found.origin} hides the server's own {name}: take {what} out of PYTHONPATH.")


def check_formats() -> None:
    """Raises BadFormat if there is a contest format that a part could not load, EmbeddedError like `check_modules`."""
    from battlebot.contests.formats import format_names

    check_modules()
    format_names()


def check_games() -> None:
    """Raises like `check_formats`, and BadGame as `discover` does.

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
