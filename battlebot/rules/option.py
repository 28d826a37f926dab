"""The options of a game that an organiser may set: `Option`, and how a module's table of options is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from battlebot.errors import BadGame

_KINDS = {int: "a whole number", str: "a text", bool: "true or false", list: "a list"}


@dataclass(frozen=True)
class Option:
    """One option of a game that an organiser may set. The type of `default` is the type of the option.

    `low` and `high` are inclusive bounds of a number, or of the length of a text or a list. `choices` are the allowed
    values, for a list the allowed items. A default of None means that the option may be left unset.
    """

    default: int | str | bool | list[Any] | None
    low: int | None = None
    high: int | None = None
    choices: tuple[Any, ...] | None = None
    doc: str = ""

    def problem(self, value: Any) -> str | None:
        """Returns what is wrong with `value`, to be read after the option's name ("must be ..."); None if nothing."""
        if value is None and self.default is None:
            return None
        if self.default is not None and type(value) is not type(self.default):
            return f"must be {_KINDS[type(self.default)]}"
        if self.choices is not None:
            items = value if isinstance(value, list) else [value]
            if not all(any(type(item) is type(choice) and item == choice for choice in self.choices) for item in items):
                return f"must be {'made of' if isinstance(value, list) else 'one of'} {listed(self.choices)}"
        return self._outside(value)

    def _outside(self, value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | str | list):
            return None
        size, noun = (value, "") if isinstance(value, int) else (len(value), " long")
        if self.low is not None and size < self.low:
            return f"must be at least {self.low}{noun}"
        if self.high is not None and size > self.high:
            return f"must be at most {self.high}{noun}"
        return None


def bad_game(file: str, wrong: str, expected: str) -> BadGame:
    """Returns the error for a broken game, in the form common to all of them: one line."""
    return BadGame(f"{file}: {' '.join(wrong.split())}; expected: {expected}.", file=file)


def listed(items: Sequence[Any]) -> str:
    """Returns the items as JSON, with commas between them."""
    return ", ".join(json.dumps(item, ensure_ascii=False) for item in items)


def options_from_table(file: str, table: Any) -> Mapping[str, Option]:
    """Returns the options of a game from `GAME["options"]`. Raises BadGame."""
    if not isinstance(table, dict):
        raise bad_game(file, f"GAME['options'] is {table!r}", 'a dict of {"default", "low", "high", "choices", "doc"}')
    return MappingProxyType({name: _option(file, name, row) for name, row in table.items()})


def _option(file: str, name: Any, row: Any) -> Option:
    where = f"the option {name!r}"
    if not isinstance(name, str) or not isinstance(row, dict) or not {"default", "doc"} <= row.keys():
        raise bad_game(file, f"{where} is {row!r}", 'a dict with at least "default" and "doc"')
    unknown = sorted(map(str, row.keys() - {"default", "low", "high", "choices", "doc"}))
    if unknown:
        raise bad_game(file, f"{where} has the unknown key {unknown[0]!r}", "default, low, high, choices, doc")
    bounds_good = all(row.get(bound) is None or type(row[bound]) is int for bound in ("low", "high"))
    choices = row.get("choices")
    if not bounds_good or not (choices is None or (isinstance(choices, tuple | list) and choices)):
        raise bad_game(file, f"{where} is {row!r}", "ints as low and high, a list of values as choices")
    if row["default"] is not None and type(row["default"]) not in _KINDS:
        raise bad_game(file, f"{where} has the default {row['default']!r}", "an int, str, bool, list or None")
    option = Option(**{**row, "choices": None if choices is None else tuple(choices)})
    problem = option.problem(option.default)
    if problem:
        raise bad_game(file, f"{where} has the default {option.default!r}", f"a default that is allowed: it {problem}")
    return option
