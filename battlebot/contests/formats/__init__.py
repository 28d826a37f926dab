"""Contest formats, one file each, found by name. Pure: they decide who meets now from who waits and who has met.

An incomplete format makes this import raise TypeError. `contract` lists what a format must define; docs/formats.md
explains how to write one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from battlebot.contests.formats.contract import Format, formats_of
from battlebot.errors import Refused

_FORMATS = formats_of(import_module(f"{__name__}.{name}") for _, name, _ in iter_modules(__path__))


def format_names() -> list[str]:
    """The names of all formats."""
    return sorted(_FORMATS)


def format_named(name: str) -> Format:
    """The format of that name. Raises Refused for an unknown name."""
    if name not in _FORMATS:
        raise Refused(f"There is no contest format {name!r}; there are: {', '.join(format_names())}.", field="format")
    return _FORMATS[name]
