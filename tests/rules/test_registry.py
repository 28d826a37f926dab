"""Games are found by themselves, and a broken one stops the start with a sentence about the file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

from battlebot.errors import BadGame, UnknownGame
from battlebot.rules.contract import Rules
from battlebot.rules.registry import Registry, discover

ROOT = Path(__file__).parents[2]

GOOD = '''
"""Tiny: the first turn wins.

More about it.
"""

GAME = {
    "name": "tiny",
    "title": "Tiny",
    "players": (2, 3),
    "options": {"size": {"default": 3, "low": 1, "high": 9, "doc": "How large."}},
    "exampleTurn": {"go": 1},
}


def initial_state(players, seed, options):
    return {"players": players, "nextPlayer": players[0], "complete": False, "log": [], "seed": seed}


def validate(state, turn):
    return not state["complete"] and turn.get("player") == state["nextPlayer"] and type(turn.get("go")) is int


def reducer(state, turn):
    log = [*state["log"], turn["go"]]
    return {**state, "log": log, "complete": True, "victor": turn["player"], "reason": "complete"}
'''


def test_the_games_of_the_house_are_found() -> None:
    """In alphabetical order."""
    games = discover()
    assert {"connectfour", "noughtsandcrosses", "numberwang"} <= set(games)
    assert list(games) == sorted(games)
    assert all(games[name].name == name for name in games)


def test_a_dropped_file_is_a_game(package_of: Callable[..., str]) -> None:
    """With what its table says, defaults for the rest; files that begin with _ are left alone."""
    games = discover(package_of(tiny=GOOD, _helper="raise RuntimeError"))
    assert list(games) == ["tiny"]
    tiny = games["tiny"]
    assert (tiny.title, tiny.min_players, tiny.max_players) == ("Tiny", 2, 3)
    assert (tiny.turn_timeout_ms, tiny.simultaneous) == (3000, False)
    assert tiny.doc == "Tiny: the first turn wins."
    assert tiny.example_turn == {"go": 1}


def test_a_folder_is_a_game_too(package_of: Callable[..., str], tmp_path: Path) -> None:
    """With an __init__.py, whose error names that file."""
    package = package_of()
    folder = tmp_path / package / "tiny"
    folder.mkdir()
    (folder / "__init__.py").write_text(GOOD)
    assert list(discover(package)) == ["tiny"]


def test_a_game_that_would_be_overlooked_stops_the_start(package_of: Callable[..., str], tmp_path: Path) -> None:
    """A folder that lacks its __init__.py, and a file beside a folder of its name, from which Python would import."""
    package = package_of(tiny=GOOD)
    folder = tmp_path / package / "tiny"
    (tmp_path / package / "_tools").mkdir()
    (tmp_path / package / "_tools" / "helper.py").write_text("")
    folder.mkdir()
    (folder / "words.txt").write_text("")
    assert list(discover(package)) == ["tiny"]
    (folder / "board.py").write_text("")
    with pytest.raises(BadGame, match=f"{package}/tiny: it is a folder without an __init__.py"):
        discover(package)
    (folder / "__init__.py").write_text(GOOD)
    with pytest.raises(BadGame, match=f"{package}/tiny.py: there is a folder tiny as well"):
        discover(package)


def test_a_folder_that_may_not_be_read_is_no_game(
    package_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as `lost+found`, where games/ is a volume of its own."""
    package = package_of(tiny=GOOD)
    closed, real = tmp_path / package / "lost+found", Path.is_file
    closed.mkdir()

    def is_file(path: Path) -> bool:
        # root, who runs tests in containers, may read everything
        if path.parent == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    assert list(discover(package)) == ["tiny"]


def test_the_readmes_game_is_a_game(package_of: Callable[..., str]) -> None:
    """The example that a newcomer copies passes, and its first turn does what it says."""
    readme = (ROOT / "games" / "README.md").read_text()
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example
    nim = discover(package_of(nim=example[1]))["nim"]
    state = nim.initial_state(["a", "b"], 1, {"heap": 4})
    after = nim.reducer(state, {"take": 3, "player": "a"})
    assert after == {**state, "heap": 1, "nextPlayer": "b"}
    assert nim.reducer(after, {"take": 1, "player": "b"})["victor"] == "b"


@pytest.mark.parametrize("function", fields(Rules), ids=lambda function: function.name)
def test_the_readme_describes_each_function(function: Field[Any]) -> None:
    """And whether a game must have it."""
    readme = (ROOT / "games" / "README.md").read_text()
    described = re.search(rf"^- `{function.name}\(.*?\)`(, optional)?: ", readme, re.MULTILINE)
    assert described
    assert (described[1] is None) == (function.default is MISSING)


def test_an_unknown_name_raises() -> None:
    """The sentence lists the games; `in` and `get` do not raise."""
    games = discover()
    with pytest.raises(UnknownGame, match=r"no game 'chess'.*numberwang"):
        games["chess"]
    assert "chess" not in games
    assert games.get("chess") is None
    assert games.get("numberwang") is games["numberwang"]
    assert len(Registry({})) == 0


def test_a_long_unknown_name_is_cut() -> None:
    """The sentence goes back to whoever asked."""
    with pytest.raises(UnknownGame) as caught:
        discover()["x" * 10_000]
    assert len(str(caught.value)) < 300


VALIDATE = 'return not state["complete"] and turn.get("player")'
LOG = 'log = [*state["log"], turn["go"]]'
START = 'return {"players": players, "nextPlayer": players[0], "complete": False, "log": [], "seed": seed}'
END = '"complete": True, "victor": turn["player"], "reason": "complete"'

# what is changed in GOOD, into what, what the error says
BROKEN = {
    "no table": ("GAME = {", "TABLE = {", "no dict called GAME"),
    "no name": ('"name": "tiny",', "", "GAME has no 'name'"),
    "no players": ('"players": (2, 3),', "", "GAME has no 'players'"),
    "unknown key": ('"title"', '"timeout": 3, "title"', "unknown key 'timeout'"),
    "other name": ('"name": "tiny"', '"name": "Tiny"', "the name of the file or folder, 'tiny'"),
    "empty title": ('"Tiny",', '"",', r"GAME\['title'\] is ''"),
    "nobody": ("(2, 3)", "(0, 3)", r"GAME\['players'\]"),
    "bounds swapped": ("(2, 3)", "(3, 2)", r"GAME\['players'\]"),
    "players a number": ("(2, 3)", "2", r"GAME\['players'\]"),
    "a bound that is a float": ("(2, 3)", "(2, 3.0)", r"GAME\['players'\]"),
    "no time": ('"title"', '"turnTimeoutMs": 0, "title"', "turnTimeoutMs"),
    "leeway below zero": ('"title"', '"leewayMs": -1, "title"', "leewayMs.* is -1"),
    "time a float": ('"title"', '"turnTimeoutMs": 3e3, "title"', "turnTimeoutMs"),
    "simultaneous a text": ('"title"', '"simultaneous": "no", "title"', "simultaneous"),
    "example with player": ('{"go": 1}', '{"go": 1, "player": "x"}', "exampleTurn"),
    "example with the server's time": ('{"go": 1}', '{"go": 1, "time": 5}', 'exampleTurn.*none of them.* "time"'),
    "example with a version": ('{"go": 1}', '{"go": 1, "version": 5}', "exampleTurn"),
    "example with a match": ('{"go": 1}', '{"go": 1, "match": 5}', "exampleTurn"),
    "no turn but its own": (
        VALIDATE,
        "if len(turn) > 2:\n        return False\n    " + VALIDATE,
        "is not a legal first turn",
    ),
    "example not legal": ('{"go": 1}', '{"go": "x"}', "exampleTurn.* is not a legal first turn"),
    "option without doc": (', "doc": "How large."', "", "the option 'size'"),
    "option without a default": ('"default": 3, ', "", "the option 'size'"),
    "option out of its bounds": ('"default": 3', '"default": 0', "must be at least 1"),
    "option of no type": ('"default": 3', '"default": 3.5', "has the default 3.5"),
    "option with unknown key": ('"doc"', '"max": 4, "doc"', "unknown key 'max'"),
    "option that is a number": (
        '{"default": 3, "low": 1, "high": 9, "doc": "How large."}',
        "3",
        "the option 'size' is 3",
    ),
    "option named by a number": ('"size": {', "4: {", "the option 4"),
    "option without a choice": ('"low": 1', '"choices": []', "a list of values as choices"),
    "option with a text as choices": ('"low": 1', '"choices": "3"', "a list of values as choices"),
    "option with text bound": ('"low": 1', '"low": "1"', "ints as low and high"),
    "option with text bound above": ('"high": 9', '"high": "9"', "ints as low and high"),
    "options a list": ('{"size": {', '[] and {"size": {', r"GAME\['options'\] is \[\]"),
    "syntax error": ("GAME = {", "GAME = {{", "importing it raises SyntaxError"),
    "import error": ("GAME = {", "import no_such_module\nGAME = {", "raises ModuleNotFoundError"),
    "exit": ("GAME = {", "import sys\nsys.exit(3)\nGAME = {", "importing it raises SystemExit: 3"),
    "exit in validate": (VALIDATE, "import sys\n    sys.exit(3)\n    " + VALIDATE, "validate raises SystemExit: 3"),
    "no reducer": ("def reducer", "def reduce", r"no function reducer; expected: def reducer\(state, turn\)"),
    "wrong signature": (
        "def validate(state, turn)",
        "def validate(state)",
        r"cannot be called as validate\(state, turn\)",
    ),
    "async": ("def validate", "async def validate", "validate is not a plain function"),
    "view not callable": ("GAME = {", "view = 3\nGAME = {", "view is not a plain function"),
    "no players in the state": ('"players": players, "n', '"n', "initial_state returns a state that has no 'players'"),
    "no nextPlayer": ('"nextPlayer": players[0], ', "", "initial_state returns a state that has no 'nextPlayer'"),
    "no complete": ('"complete": False, ', "", "has no 'complete'"),
    "not a dict": (START, "return [players]", "is not a dict"),
    "other players": ('"players": players, "n', '"players": players[::-1], "n', "other 'players'"),
    "stranger is next": ('"nextPlayer": players[0]', '"nextPlayer": "me"', "'nextPlayer' that is not one of"),
    "nobody is next": ('"nextPlayer": players[0]', '"nextPlayer": None', "'nextPlayer' that is not one of"),
    "complete is 0": ('"complete": False', '"complete": 0', "neither True nor False"),
    "over at once": ('"complete": False', f"{END.replace('turn[', 'dict(player=None)[')}", "a state that is complete"),
    "victor too early": ('"log": []', '"log": [], "victor": None', "before it is complete"),
    "reason too early": ('"log": []', '"log": [], "reason": "none"', "before it is complete"),
    "tuple in the state": ('"log": []', '"log": ()', "comes back from JSON changed"),
    "key that is no text": ('"log": []', '"log": [], "map": {1: 2}', "comes back from JSON changed"),
    "set in the state": ('"log": []', '"log": [], "set": {1}', "cannot be written as JSON"),
    "not a number": ('"log": []', '"log": [], "x": float("nan")', "cannot be written as JSON"),
    "an integer beyond 64 bits": ('"log": []', '"log": [], "x": [2**63]', "has an integer of more than 64 bits"),
    "an integer far below 64 bits": ('"log": []', '"log": [], "x": -(10**30)', "has an integer of more than 64 bits"),
    "a key with a NUL": ('"log": []', '"log": [], "x": {"a\\0": 1}', "has the key 'a.x00', which cannot be stored"),
    "a lone surrogate": ('"log": []', '"log": [], "x": "\\ud800"', "has a text with half of a surrogate pair"),
    "a lone surrogate in a key": ('"log": []', '"log": [], "\\ud800": 1', "has a text with half of a surrogate pair"),
    "a reference": ('"log": []', '"log": [], "x": [{"$ref": "a", "$id": 1}]', r"has the key '\$ref'"),
    "a hash in the next state": (END, f'"x": 2**64 - 1, {END}', "reducer returns a state that has an integer of"),
    "objection raises": (
        "GAME = {",
        "def objection(players, options):\n    return None if 'bot 1' in players else 1 / 0\nGAME = {",
        "objection raises ZeroDivisionError",
    ),
    "objection returns no sentence": (
        "GAME = {",
        "def objection(players, options):\n    return False\nGAME = {",
        "objection returns no text but bool",
    ),
    "clock in the state": (
        START,
        "import time\n    " + START.replace("seed}", "time.perf_counter_ns()}"),
        "differs for the same",
    ),
    "initial_state raises": (START, "return 1 / 0", "initial_state raises ZeroDivisionError"),
    "not for the most players": (START, "players[:3 - len(players)][0]\n    " + START, "raises IndexError"),
    "simultaneous waits for nobody": ('"title"', '"simultaneous": True, "title"', "no 'waitingFor'"),
    "validate raises": ('turn.get("go")', 'turn["go"]', "validate raises KeyError"),
    "validate raises on a list": (VALIDATE, '{turn.get("go"): 1}\n    ' + VALIDATE, "validate raises TypeError"),
    "validate returns no bool": (VALIDATE, 'return turn.get("go") and ' + VALIDATE[7:], "validate returns None"),
    "validate takes anybody": (' and turn.get("player") == state["nextPlayer"]', "", "not to move"),
    "validate changes the turn": (VALIDATE, 'turn.pop("go", 0)\n    ' + VALIDATE, "validate changes what it is given"),
    "explain says nothing": ("GAME = {", 'def explain(state, turn):\n    return ""\nGAME = {', "explain returns ''"),
    "reducer changes the state": (
        LOG,
        'state["log"].append(turn["go"])\n    log = [1]',
        "reducer changes what it is given",
    ),
    "reducer returns its input": (LOG, "return state", "reducer returns the state it was given"),
    "reducer forgets victor": (END, '"complete": True, "reason": "complete"', "without a 'victor'"),
    "victor is a stranger": (
        END,
        '"complete": True, "victor": "me", "reason": "complete"',
        "without a 'victor' that is",
    ),
    "reducer forgets reason": (END, '"complete": True, "victor": None', "without a 'reason'"),
    "places that are no ranks": (END, f'"places": [turn["player"]], {END}', "'places' that are not a list of lists"),
    "places of a stranger": (END, f'"places": [["me"]], {END}', "'places' that do not name each player once"),
    "scores that are no rows": (END, f'"scores": [3], {END}', "'scores' that are not a list of objects"),
    "score of a stranger": (
        END,
        f'"scores": [{{"name": "me", "score": 3}}], {END}',
        "'scores' that are not a player's",
    ),
    "two scores of a player": (
        END,
        f'"scores": [{{"name": turn["player"], "score": 3}}] * 2, {END}',
        "'scores' that do not name each player once",
    ),
    "reducer throws dice": (LOG, "import random\n    log = [random.random()]", "two results for one turn"),
    "reducer raises": (LOG, "log = state.log", "reducer raises AttributeError"),
    **{
        f"{name} in the state": (
            '"log": []',
            f'"log": [], "{name}": 1',
            f"initial_state .* has '{name}', a name that is",
        )
        for name in ("_id", "game", "contest", "startTime", "turns", "match")
    },
    "turns in the next state": (
        END,
        f'"turns": 1, {END}',
        "reducer returns a state that has 'turns', a name that is taken",
    ),
    "view hides too much": (
        "GAME = {",
        "def view(state, player):\n    return {}\nGAME = {",
        "view returns no state",
    ),
    "view changes the state": (
        "GAME = {",
        'def view(state, player):\n    state.pop("seed", 0)\n    return state\nGAME = {',
        "view changes what it is given",
    ),
    "view knows no viewers": (
        "GAME = {",
        "def view(state, player):\n    return {**state, 'own': state['players'].index(player)}\nGAME = {",
        "view raises ValueError",
    ),
    "view fails at the end": (
        "GAME = {",
        "def view(state, player):\n    return 1 / 0 if state['complete'] else state\nGAME = {",
        "view raises ZeroDivisionError",
    ),
    "render returns no text": (
        "GAME = {",
        "def render(state):\n    return 3\nGAME = {",
        "render returns no text but int",
    ),
    "view_turn hides the whole turn": (
        "GAME = {",
        "def view_turn(turn, player):\n    return None\nGAME = {",
        "view_turn returns no turn",
    ),
}


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_game_stops_the_start(old: str, new: str, sentence: str, package_of: Callable[..., str]) -> None:
    """The error names the file, what is wrong and what is expected."""
    assert old in GOOD
    package = package_of(tiny=GOOD.replace(old, new, 1))
    with pytest.raises(BadGame, match=sentence) as caught:
        discover(package)
    assert "tiny.py: " in str(caught.value)
    assert "; expected: " in str(caught.value)


SIMULTANEOUS = '''
"""Morra: both show fingers at once; the first wins if they are an even number."""

GAME = {"name": "morra", "title": "Morra", "players": (2, 2), "simultaneous": True, "exampleTurn": {"fingers": 2}}


def initial_state(players, seed, options):
    return {"players": players, "nextPlayer": None, "waitingFor": [*players], "complete": False, "shown": {}}


def validate(state, turn):
    return turn.get("player") in state["waitingFor"] and type(turn.get("fingers")) is int and 0 < turn["fingers"] < 6


def reducer(state, turn):
    shown = {**state["shown"], turn["player"]: turn["fingers"]}
    waiting = [player for player in state["waitingFor"] if player != turn["player"]]
    after = {**state, "shown": shown, "waitingFor": waiting}
    if not waiting:
        after |= {"complete": True, "victor": state["players"][sum(shown.values()) % 2], "reason": "complete"}
    return after


def view(state, player):
    own = {bot: fingers for bot, fingers in state["shown"].items() if bot == player or state["complete"]}
    return {**state, "shown": own}


def view_turn(turn, player):
    return {key: turn[key] for key in ("player", "time", "valid")}
'''


def test_a_simultaneous_game_with_secrets_passes(package_of: Callable[..., str]) -> None:
    """It waits for both, then for one, then for none; a viewer sees nothing before the end."""
    morra = discover(package_of(morra=SIMULTANEOUS))["morra"]
    start = morra.initial_state(["a", "b"], 0, {})
    middle = morra.reducer(start, {"fingers": 2, "player": "b"})
    end = morra.reducer(middle, {"fingers": 1, "player": "a"})
    assert [morra.awaited(state) for state in (start, middle, end)] == [("a", "b"), ("a",), ()]
    assert [morra.view(middle, player)["shown"] for player in (None, "a", "b")] == [{}, {}, {"b": 2}]
    assert morra.view(end, None)["shown"] == {"a": 1, "b": 2}
    assert "waits for a" in morra.explain(middle, {"fingers": 3, "player": "b"})


@pytest.mark.parametrize("waiting", ["[]", "None", '["me"]', '"bot 1"', "{}"])
def test_a_simultaneous_game_must_wait_for_somebody(waiting: str, package_of: Callable[..., str]) -> None:
    """Until it is complete, for players of its own."""
    with pytest.raises(BadGame, match=r"waitingFor|waits for nobody"):
        discover(package_of(morra=SIMULTANEOUS.replace('"waitingFor": [*players]', f'"waitingFor": {waiting}')))


def test_without_an_example_a_reducer_that_changes_its_input_is_still_seen(package_of: Callable[..., str]) -> None:
    """As far as a turn that is not legal gets."""
    bad = GOOD.replace('"exampleTurn": {"go": 1},', "").replace(LOG, 'state["log"].append(1)\n    log = [turn["go"]]')
    with pytest.raises(BadGame, match="reducer changes the state it is given"):
        discover(package_of(tiny=bad))
    with pytest.raises(BadGame, match="reducer raises SystemExit: 3"):
        discover(package_of(tiny=bad.replace('state["log"].append(1)', "raise SystemExit(3)")))


def test_without_an_example_a_good_game_passes(package_of: Callable[..., str]) -> None:
    """The example is optional; so is what is said about the game."""
    code = GOOD.replace('"exampleTurn": {"go": 1},', "")
    assert discover(package_of(tiny=code[code.index("GAME") :]))["tiny"].doc == ""


def test_a_file_with_a_name_for_no_address_is_refused(package_of: Callable[..., str]) -> None:
    """A game's name stands in addresses."""
    with pytest.raises(BadGame, match="lower-case ASCII letters"):
        discover(package_of(Tiny=GOOD.replace('"tiny"', '"Tiny"')))


def test_a_folder_without_games_is_refused(package_of: Callable[..., str]) -> None:
    """So is one that is not there, and a file."""
    with pytest.raises(BadGame, match="no game in it"):
        discover(package_of())
    with pytest.raises(BadGame, match="ModuleNotFoundError"):
        discover("no_such_folder_of_games")
    with pytest.raises(BadGame, match="a package"):
        discover("games.numberwang")


def test_folders_that_python_has_joined_are_refused(
    package_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of one name on the path, neither with an __init__.py: files of the other would become games."""
    package = package_of(tiny=GOOD)
    (tmp_path / package / "__init__.py").unlink()
    (tmp_path / "elsewhere" / package).mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    with pytest.raises(BadGame, match="it is 2 folders"):
        discover(package)
