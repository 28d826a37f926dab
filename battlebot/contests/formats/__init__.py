"""Contest formats, one file each, found by name: pure functions from who waits and who has met to who meets now."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from battlebot.contests.formats.situation import Format
from battlebot.errors import Refused


def format_names() -> list[str]:
    """The names of all formats: of the modules here that have a NAME."""
    return sorted(_formats())


def format_named(name: str) -> Format:
    """The format of that name. Raises Refused for an unknown one."""
    if name not in _formats():
        raise Refused(f"There is no contest format {name!r}; there are: {', '.join(format_names())}.", field="format")
    return _formats()[name]


@cache
def _formats() -> dict[str, Format]:
    modules = [import_module(f"{__name__}.{name}") for _, name, _ in iter_modules(__path__)]
    return {module.NAME: cast(Format, module) for module in modules if hasattr(module, "NAME")}
