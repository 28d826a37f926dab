"""Contest formats, one file each, found by name: a pure function from who waits and who has met to who meets now."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from battlebot.contests.formats.record import Pairing, Record, Waiter
from battlebot.errors import Refused


class Format(Protocol):
    """What a module in this folder must define."""

    TITLE: str

    def pair(self, waiting: Sequence[Waiter], record: Record, meetings: int) -> list[Pairing]:
        """Who meets now. `waiting`: longest waiting first; no pair may meet more than `meetings` times."""


def format_names() -> list[str]:
    """The names of all formats: the modules here that define `pair`."""
    return sorted(name for _, name, _ in iter_modules(__path__) if name != "record")


def format_named(name: str) -> Format:
    """The format of that name. Raises Refused for an unknown one."""
    if name not in format_names():
        raise Refused(f"There is no contest format {name!r}; there are: {', '.join(format_names())}.")
    return cast(Format, import_module(f"{__name__}.{name}"))
