"""Makes a `Game` of a module in games/, and checks what can be checked of it without playing the game. Pure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from types import ModuleType
from typing import Any

from battlebot.rules.contract import MAX_TURN_TIMEOUT_MS, RESERVED_OF_A_TURN, Game, Rules
from battlebot.rules.option import bad_game, listed, options_from_table

DEFAULT_TURN_TIMEOUT_MS = 3000

_A_TURN = f"a dict of a turn's own fields, none of them {listed(sorted(RESERVED_OF_A_TURN))}"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_REQUIRED = ("name", "title", "players")
_OPTIONAL = ("turnTimeoutMs", "leewayMs", "simultaneous", "options", "exampleTurn")

# the positional arguments of each function, in this order
_ARGUMENTS = {
    "initial_state": ("players", "seed", "options"),
    "validate": ("state", "turn"),
    "reducer": ("state", "turn"),
    "explain": ("state", "turn"),
    "view": ("state", "player"),
    "view_turn": ("turn", "player"),
    "render": ("state",),
    "show": ("state",),
    "check_options": ("options",),
    "objection": ("players", "options"),
    "forfeit": ("state", "player", "cause"),
    "configure": ("state", "options", "asked"),
    "question": ("state", "player", "about"),
    "turn_from": ("answer",),
    "pause_ms": ("state",),
}
_OBLIGATORY = frozenset(row.name for row in fields(Rules) if row.default is MISSING)


def game_from_module(module: ModuleType) -> Game:
    """Returns the game that a module defines. Raises BadGame: the file, what is wrong there, what is expected."""
    file = str(getattr(module, "__file__", None) or module.__name__)
    table = getattr(module, "GAME", None)
    if not isinstance(table, dict):
        raise bad_game(file, "there is no dict called GAME", f"GAME = {{{', '.join(map(repr, _REQUIRED))}, ...}}")
    for key in _REQUIRED:
        if key not in table:
            raise bad_game(file, f"GAME has no {key!r}", f"the keys {listed(_REQUIRED)}")
    for key in table:
        if key not in _REQUIRED + _OPTIONAL:
            raise bad_game(file, f"GAME has the unknown key {key!r}", f"only {listed(_REQUIRED + _OPTIONAL)}")
    low, high = _players(file, table["players"])
    doc = inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]
    return Game(
        name=_name(file, table["name"], module.__name__.rpartition(".")[2]),
        title=_checked(file, table, "title", "", lambda v: isinstance(v, str) and bool(v.strip()), "a text to show"),
        min_players=low,
        max_players=high,
        turn_timeout_ms=_checked(
            file, table, "turnTimeoutMs", DEFAULT_TURN_TIMEOUT_MS, _is_timeout, f"an int of 1 to {MAX_TURN_TIMEOUT_MS}"
        ),
        leeway_ms=_checked(
            file, table, "leewayMs", 0, lambda v: v == 0 or _is_timeout(v), f"an int of 0 to {MAX_TURN_TIMEOUT_MS}"
        ),
        simultaneous=_checked(file, table, "simultaneous", False, lambda v: isinstance(v, bool), "True or False"),
        options=options_from_table(file, table.get("options", {})),
        doc=" ".join(doc.split()),
        example_turn=_checked(file, table, "exampleTurn", None, _is_turn, _A_TURN),
        rules=Rules(**_functions(file, module)),
    )


def _is_timeout(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_TURN_TIMEOUT_MS


def _is_turn(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and RESERVED_OF_A_TURN.isdisjoint(value))


def _checked(file: str, table: dict[str, Any], key: str, absent: Any, is_good: Callable[[Any], bool], must: str) -> Any:
    value = table.get(key, absent)
    if not is_good(value):
        raise bad_game(file, f"GAME[{key!r}] is {value!r}", must)
    return value


def _name(file: str, name: Any, stem: str) -> str:
    if name != stem:
        raise bad_game(file, f"GAME['name'] is {name!r}", f"the name of the file or folder, {stem!r}")
    if not _NAME.fullmatch(stem):
        raise bad_game(file, f"GAME['name'] is {name!r}", "lower-case ASCII letters, digits and _, a letter first")
    return stem


def _players(file: str, bounds: Any) -> tuple[int, int]:
    if isinstance(bounds, tuple | list) and len(bounds) == 2 and all(type(bound) is int for bound in bounds):
        low, high = bounds
        if 1 <= low <= high:
            return low, high
    raise bad_game(file, f"GAME['players'] is {bounds!r}", "(fewest, most), two ints from 1 on")


def _functions(file: str, module: ModuleType) -> dict[str, Any]:
    functions = {}
    for name, arguments in _ARGUMENTS.items():
        signature = f"{name}({', '.join(arguments)})"
        function = getattr(module, name, None)
        if function is None:
            if name in _OBLIGATORY:
                raise bad_game(file, f"there is no function {name}", f"def {signature}")
            continue
        if not callable(function) or inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise bad_game(file, f"{name} is not a plain function", f"def {signature}")
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as error:
            raise bad_game(file, f"{name} cannot be called as {signature} ({error})", f"def {signature}") from None
        functions[name] = function
    return functions
