"""Contest formats, one file each, found by name. Pure: they decide who meets now from who waits and who has met.

A broken file is an error when a format is asked for. `contract` lists what a format must define; docs/formats.md
explains how to write one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from battlebot.contests.formats.contract import Format, formats_of
from battlebot.errors import BadFormat, Refused


def format_names() -> list[str]:
    """The names of all formats. Raises BadFormat."""
    return sorted(_formats())


def format_named(name: str) -> Format:
    """The format of that name. Raises Refused for an unknown name, BadFormat."""
    formats = _formats()
    if name not in formats:
        raise Refused(f"There is no contest format {name!r}; there are: {', '.join(format_names())}.", field="format")
    return formats[name]


@cache
def _formats() -> Mapping[str, Format]:
    try:
        return formats_of(_imported(name) for _, name, _ in iter_modules(__path__))
    except TypeError as error:
        raise BadFormat(str(error)) from error


def _imported(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except (Exception, SystemExit) as error:
        wrong = " ".join(f"importing it raises {type(error).__name__}: {error}".split())
        raise BadFormat(f"contests/formats/{name}.py: {wrong}; expected: a module that imports.") from error


# now, so that the processes of a worker, which are forked, need not look for them one by one
with suppress(BadFormat):
    _formats()
