"""`battlebot ratings`: as a user calls it, against a MongoDB, a running server's folder, and a folder at rest."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from stored_matches import GAME, kept, right, season
from zygote import run

from battlebot.config import Settings
from battlebot.embedded.commands import environment
from battlebot.embedded.stores import embedded_stores
from battlebot.ratings.service import Rater
from battlebot.storage import Storage

ROOT = Path(__file__).parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def call(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    return run(["ratings", *arguments], environment(settings), ROOT)


def test_check_tells_a_difference_and_rebuild_mends_it(settings: Settings, storage: Storage) -> None:
    """Status 1 where there is one; what is kept is touched by `rebuild` only."""
    games = season(40)
    storage.archive.store(games)
    Rater(storage).rate_new(GAME)
    assert (call(settings, "check").returncode, call(settings, "check", GAME).stdout) == (0, f"{GAME}: as rebuilt.\n")
    storage.database["ratings"].update_one({"bot_id": "bot1"}, {"$inc": {"mu": 1.0}})
    found = call(settings, "check")
    assert found.returncode == 1
    assert found.stdout.splitlines()[0] == f"{GAME}: 1 ratings differ."
    assert "bot1: kept " in found.stdout
    assert kept(storage) != right(games)
    count = sum(not game["match"]["void"] for game in games)
    assert call(settings, "rebuild").stdout == f"{GAME}: {count} matches applied.\n"
    assert kept(storage) == right(games)
    assert call(settings, "check").returncode == 0


def test_check_finds_nothing_wrong_while_a_rebuild_is_due(settings: Settings, storage: Storage) -> None:
    """After a match was taken back its status was 1, until a worker had made the ratings anew."""
    storage.archive.store(season(40))
    Rater(storage).rate_new(GAME)
    storage.database["games"].update_one({"match.void": False}, {"$set": {"match.void": True}})
    found = call(settings, "check", GAME)
    assert (found.returncode, "and are due to be rebuilt by a worker" in found.stdout) == (0, True)
    Rater(storage).rate_new(GAME)
    assert "as rebuilt" in call(settings, "check", GAME).stdout


def test_show_prints_columns_with_tabs(settings: Settings, storage: Storage) -> None:
    """The best first, as many as asked for."""
    storage.archive.store(season(40))
    Rater(storage).rate_new(GAME)
    lines = [line.split("\t") for line in call(settings, "show", GAME, "--limit", "3").stdout.splitlines()]
    assert lines[0] == ["rank", "bot_id", "mu", "sigma", "low", "high", "ordinal", "matches"]
    assert [line[:2] for line in lines[1:]] == [
        [str(rank), row["bot_id"]] for rank, row in enumerate(storage.ratings.page(GAME, 3), start=1)
    ]


def test_an_unknown_game_is_one_clear_line(settings: Settings, storage: Storage) -> None:
    """It says which games there are."""
    storage.archive.store(season(1))
    for command in ("show", "rebuild", "check"):
        finished = call(settings, command, "numberwank")
        assert finished.returncode == 2
        assert finished.stderr == f"battlebot: No match of 'numberwank' is stored; there are matches of: {GAME}.\n"


def test_without_an_address_the_folders_own_mongod_is_asked(tmp_path: Path) -> None:
    """That of a server that runs, or one started for the command; a folder without anything is an error."""
    bare = Settings(data=tmp_path / "data", log_format="json")
    empty = call(bare, "check")
    assert empty.returncode == 2
    assert empty.stderr.startswith("battlebot: No Battlebot has kept anything in ")
    with embedded_stores(bare) as running:
        storage = Storage(running)
        storage.archive.store(season(5))
        Rater(storage).rate_new(GAME)
        storage.close()
        assert call(bare, "check").stdout == f"{GAME}: as rebuilt.\n"
    assert call(bare, "check").stdout == f"{GAME}: as rebuilt.\n"
    named = call(Settings(data=tmp_path / "other", log_format="json"), "check", "--data", str(tmp_path / "data"))
    assert named.stdout == f"{GAME}: as rebuilt.\n"


@pytest.mark.parametrize("command", [[], ["show"], ["rebuild"], ["check"]])
def test_help_is_there(command: list[str]) -> None:
    """And names the command."""
    finished = call(Settings(), *command, "--help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert " ".join(["battlebot ratings", *command]) in finished.stdout
