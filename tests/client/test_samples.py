"""The sample bots against the games' own rules, and their command line against a scripted server."""

from __future__ import annotations

import json
import os
import random
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_server import PASS_HASH, Line, ScriptedServer, final, update

from battlebot.client import Bot
from battlebot.client.samples.first_free import FirstFree
from battlebot.client.samples.illegal import Illegal
from battlebot.client.samples.perfect import Perfect
from battlebot.client.samples.random_player import RandomPlayer
from battlebot.client.samples.slow import Slow
from battlebot.client.samples.turns import GAMES, possible_turns
from games import connectfour, gomoku, noughtsandcrosses, numberwang

MODULES = {
    "connectfour": connectfour,
    "gomoku": gomoku,
    "noughtsandcrosses": noughtsandcrosses,
    "numberwang": numberwang,
}


COMMANDS = (
    *("first_free", "illegal", "perfect", "random_player", "slow", "threats"),
    *("crossword.challenger", "crossword.greedy", "battlecube.connected", "battlecube.http_bot"),
)


def match(game: str, *bots: Bot) -> dict[str, Any]:
    """Play a match; its final state. A turn that is not valid fails the test."""
    rules = MODULES[game]
    names = [f"bot {n}" for n in range(len(bots))]
    for name, bot in zip(names, bots, strict=True):
        bot.bot_id, bot.game = name, game
    options = {name: option["default"] for name, option in rules.GAME.get("options", {}).items()}
    state = rules.initial_state(names, 1, options)
    while not state["complete"]:
        player = state["nextPlayer"]
        turn = {**bots[names.index(player)].choose(json.loads(json.dumps(state))), "player": player}
        assert rules.validate(state, turn), turn
        state = rules.reducer(state, turn)
    return state


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("kinds", [(RandomPlayer, FirstFree), (FirstFree, FirstFree), (FirstFree, RandomPlayer)])
def test_random_and_first_free_play_every_game_to_its_end(game: str, kinds: tuple[type[Bot], type[Bot]]) -> None:
    """Twenty matches without an invalid turn."""
    random.seed(1)
    for _ in range(20):
        assert match(game, *(kind() for kind in kinds))["reason"] == "complete"


def test_an_unknown_game_is_named() -> None:
    """Nothing falls back in silence."""
    with pytest.raises(LookupError, match="battlecube"):
        possible_turns("battlecube", {}, "Me")


def test_perfect_never_loses_and_mostly_beats_random() -> None:
    """A hundred matches from either seat."""
    random.seed(2)
    victors = [match("noughtsandcrosses", Perfect(), RandomPlayer())["victor"] for _ in range(50)]
    assert set(victors) <= {"bot 0", None}
    assert victors.count("bot 0") > 35
    assert {match("noughtsandcrosses", RandomPlayer(), Perfect())["victor"] for _ in range(50)} <= {"bot 1", None}


def test_two_perfect_bots_draw() -> None:
    """As two such bots must."""
    random.seed(3)
    assert {match("noughtsandcrosses", Perfect(), Perfect())["victor"] for _ in range(5)} == {None}


def test_slow_takes_its_time_and_plays_valid_turns() -> None:
    """The delay is the author's to choose."""
    assert match("noughtsandcrosses", Slow(0.001, 0.002), Slow(0.001, 0.002))["reason"] == "complete"


def test_illegal_is_invalid_now_and_then() -> None:
    """About a quarter of its turns, and three in a row at times; else they are valid."""
    random.seed(4)
    bot = Illegal()
    bot.bot_id, bot.game = "bot 0", "noughtsandcrosses"
    state = noughtsandcrosses.initial_state(["bot 0", "bot 1"], 1, {})
    valid = [noughtsandcrosses.validate(state, {**bot.choose(state), "player": "bot 0"}) for _ in range(1000)]
    assert 150 < valid.count(False) < 350
    assert "FFF" in "".join("T" if one else "F" for one in valid)


def command(server: ScriptedServer, auth: Path, *options: str) -> list[str]:
    """The command line of the perfect sample."""
    module = "battlebot.client.samples.perfect"
    return [sys.executable, "-m", module, "--host", server.host, "--name", "Me", "--auth", str(auth), *options]


LOADED = """
import sys
there = set(sys.modules)
import importlib
from importlib import metadata
for name in sys.argv[1:]:
    importlib.import_module(name)
where = metadata.packages_distributions()
print(*sorted({dist for name in {*sys.modules} - there for dist in where.get(name, ())}))
"""


def test_a_machine_that_only_runs_bots_needs_two_libraries() -> None:
    """Those that docs/bots.md names. python-socks is used by one of them if it is there."""
    samples = [f"battlebot.client.samples.{name}" for name in COMMANDS if not name.startswith("crossword")]
    loaded = subprocess.check_output([sys.executable, "-c", LOADED, "battlebot.client", *samples], text=True).split()
    assert set(loaded) - {"battlebot", "python-socks"} == {"orjson", "websocket-client"}


def test_a_sample_registers_itself_plays_and_says_how_it_went(
    serve: Callable[..., ScriptedServer], tmp_path: Path
) -> None:
    """In a process of its own, as authors start it."""

    def script(line: Line) -> None:
        assert line.login()["contest"] == "demo"
        line.say(update(0, board=[["O", "O", ""], ["X", "X", ""], ["", "", ""]], marks={"X": "Me", "O": "You"}))
        assert line.hear() == {"mark": "X", "space": [1, 2], "version": 0, "match": "m1"}
        line.say(final(1))

    server = serve(script)
    registered = {"game": "noughtsandcrosses", "bot_id": "Me", "pass_hash": PASS_HASH}
    server.answers["POST", "/bots/noughtsandcrosses"] = ("201 Created", json.dumps(registered))
    auth = tmp_path / "auth.json"
    done = subprocess.run(
        command(server, auth, "--contest", "demo", "--matches", "1"), capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Me: 1 matches, 1 won\n", "")
    assert auth.stat().st_mode & 0o777 == 0o600


def test_a_sample_that_cannot_play_says_so_in_one_line(serve: Callable[..., ScriptedServer], tmp_path: Path) -> None:
    """No traceback: it is not the author's code that is wrong."""
    done = subprocess.run(command(serve(), tmp_path / "auth.json"), capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_sample_plays_as_the_bot_of_its_auth_file(serve: Callable[..., ScriptedServer], tmp_path: Path) -> None:
    """Unless it is given another name: then it says so."""
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"game": "noughtsandcrosses", "bot_id": "Mine", "pass_hash": PASS_HASH}))

    def script(line: Line) -> None:
        assert line.login()["bot_id"] == "Mine"
        line.bot_closes()

    words = command(serve(script), auth, "--idle-timeout", "0.1")
    done = subprocess.run([*words, "--name", "Me"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr.endswith(f"The auth file {auth} is for the bot 'Mine', not for 'Me'.\n")
    at = words.index("--name")
    done = subprocess.run([*words[:at], *words[at + 2 :]], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "Mine: 0 matches, 0 won\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_makes_a_sample_say_goodbye(
    serve: Callable[..., ScriptedServer], tmp_path: Path, number: signal.Signals
) -> None:
    """Status 0, close code 1000, no traceback."""
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"game": "noughtsandcrosses", "bot_id": "Me", "pass_hash": PASS_HASH}))
    processes: list[subprocess.Popen[str]] = []

    def script(line: Line) -> None:
        line.login()
        line.say({"notice": "You wait.", "code": "waiting"})
        os.kill(processes[0].pid, number)
        assert line.bot_closes() == 1000

    server = serve(script)
    processes.append(subprocess.Popen(command(server, auth), stderr=subprocess.PIPE, text=True))
    _, errors = processes[0].communicate(timeout=30)
    assert (processes[0].returncode, errors) == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_samples_help_names_the_command_that_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So do its errors: what is copied from them must be a module."""
    monkeypatch.setattr(sys, "argv", ["any", "--help"])
    monkeypatch.delitem(sys.modules, f"battlebot.client.samples.{name}", raising=False)
    with pytest.raises(SystemExit):
        runpy.run_module(f"battlebot.client.samples.{name}", run_name="__main__", alter_sys=True)
    words = capsys.readouterr().out.split()
    assert words[:4] == ["usage:", "python", "-m", f"battlebot.client.samples.{name}"]
