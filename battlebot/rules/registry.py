"""Finds the games: every file or folder in games/ whose name does not begin with "_". A broken game stops the start."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from battlebot.errors import UnknownGame
from battlebot.rules.contract import RAISED_OUTSIDE, Game
from battlebot.rules.module import game_from_module
from battlebot.rules.option import bad_game
from battlebot.rules.probe import probe


class Registry(dict[str, Game]):
    """The games by name, in alphabetical order. An unknown name raises UnknownGame, never a KeyError."""

    def __init__(self, games: Mapping[str, Game]) -> None:
        super().__init__(sorted(games.items()))

    def __missing__(self, name: str) -> Game:
        raise UnknownGame(f"There is no game {str(name)[:64]!r}. The games are: {', '.join(self)}.")


def discover(package: str = "games") -> Registry:
    """Imports every game of the package, checks it and plays its first turn.

    Raises BadGame for the first that breaks the contract: the file, what is wrong there, what is expected.
    """
    home = _imported(package, package)
    if not hasattr(home, "__path__"):
        raise bad_game(package, "it is a module", "a package (a folder) of games")
    folders = [folder for folder in home.__path__ if Path(folder).is_dir()]
    if len(folders) > 1:
        # without an __init__.py Python merges all folders of that name, so games might come from any of them
        raise bad_game(package, f"it is {len(folders)} folders: {', '.join(folders)}", "one, with an __init__.py")
    for folder in folders:
        _check_for_overlooked(package, Path(folder))
    games = {}
    for found in pkgutil.iter_modules(home.__path__):
        if found.name.startswith("_"):
            continue
        file = f"{package}/{found.name}{'/__init__' if found.ispkg else ''}.py"
        module = _imported(f"{package}.{found.name}", file)
        game = game_from_module(module)
        probe(game, str(module.__file__))
        games[game.name] = game
    if not games:
        raise bad_game(package, "there is no game in it", "at least one file such as numberwang.py")
    return Registry(games)


def _check_for_overlooked(package: str, home: Path) -> None:
    """Raises BadGame for what looks like a game to its author, and is none to Python."""
    for path in sorted(home.glob("[!_.]*/")):
        try:
            is_package, holds_code = (path / "__init__.py").is_file(), any(path.glob("*.py"))
        except PermissionError:
            # the `lost+found` of a volume, say: Python finds no game in it either
            continue
        if is_package and (home / f"{path.name}.py").is_file():
            raise bad_game(f"{package}/{path.name}.py", f"there is a folder {path.name} as well", "one of the two")
        if holds_code and not is_package:
            expected = "an __init__.py in it, or a name that begins with _"
            raise bad_game(f"{package}/{path.name}", "it is a folder without an __init__.py", expected)


def _imported(name: str, file: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except RAISED_OUTSIDE as error:
        raise bad_game(file, f"importing it raises {type(error).__name__}: {error}", "a module that imports") from error
