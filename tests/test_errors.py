"""The tree of errors is drawn in the docstring of battlebot/errors.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from battlebot import errors
from battlebot.errors import BattlebotError


def drawn() -> Iterator[tuple[str, str]]:
    """Yields (error, its parent) for each line of the drawing but the first."""
    above = {0: "BattlebotError"}
    for branch, name in re.findall(r"^    ([│ ]*[├└]── )(\w+)", errors.__doc__ or "", re.MULTILINE):
        depth = len(branch) // 4
        above[depth] = name
        yield name, above[depth - 1]


def children(parent: type[BattlebotError]) -> Iterator[tuple[str, str]]:
    """Yields (error, its parent) for everything in the module below an error."""
    for child in parent.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child.__name__, parent.__name__
            yield from children(child)


def test_the_tree_is_as_drawn() -> None:
    """Whoever catches an error catches those below it, and finds them there."""
    assert sorted(drawn()) == sorted(children(BattlebotError))
    assert len(list(drawn())) > 20, "the drawing has been found"
