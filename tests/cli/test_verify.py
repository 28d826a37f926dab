"""`battlebot verify` as an operator uses it: its report, its JSON, its exit status."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from records import played, reserve, won

from battlebot.config import Settings
from battlebot.embedded.stores import embedded_stores
from battlebot.referee.events import Turned
from battlebot.storage import Storage
from battlebot.storage.contests import Change
from battlebot.storage.games import LONG
from battlebot.storage.voids import VoidCause

Run = Callable[..., subprocess.CompletedProcess[str]]
BOTS = ("ada", "bob", "cat")


def fill(storage: Storage, contest: str = "cup é") -> list[str]:
    """A contest in which every pair has met twice; the matches' ids."""
    storage.contests.open("numberwang", contest, 5)
    pairs = [(one, two) for one in BOTS for two in BOTS if one != two]
    meetings = [
        {"match": f"{number:024x}", "bots": list(pair), "n": 1 if pair == tuple(sorted(pair)) else 2}
        for number, pair in enumerate(pairs)
    ]
    reserve(storage, "numberwang", contest, meetings)
    records = [
        won(row["bots"], match_id=row["match"], contest=contest, seq=10**15 + number)
        for number, row in enumerate(meetings)
    ]
    return storage.archive.store(records)


@pytest.fixture
def verify(battlebot: Run, settings: Settings) -> Callable[..., tuple[int, str, str]]:
    """A function: the words after `battlebot verify` -> status, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        finished = battlebot("verify", *words, MONGODB_URI=settings.mongodb_uri)
        return finished.returncode, finished.stdout, finished.stderr

    return run


Verify = Callable[..., tuple[int, str, str]]


def test_a_sound_contest_and_its_matches_are_told_so(verify: Verify, storage: Storage) -> None:
    """Status 0; a line each."""
    match_id = fill(storage)[0]
    status, out, err = verify("cup é", match_id)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "cup é: 6 matches of 18 turns replayed; all is as recorded, the cap holds, the standings are what the matches"
        " make.",
        f"{match_id}: 1 match of 3 turns replayed; all is as recorded.",
    ]


def test_what_is_not_as_recorded_is_told_with_its_match(verify: Verify, storage: Storage) -> None:
    """A turn, a meeting and a standing have been changed by hand: status 1, and each of them in the report."""
    one, two, *_ = fill(storage)
    storage.database["games"].update_one({"_id": one}, {"$set": {"turns.0.n": 1}})
    storage.database["meetings"].update_one({"_id": two}, {"$set": {"victor": None}})
    storage.database["standings"].update_one({"bot_id": "cat"}, {"$inc": {"wins": 7}})
    status, out, err = verify("cup é")
    assert (status, err) == (1, "")
    assert f"  {one}: The final state's board is not what the turns make. (state)" in out
    assert f"  {two}: The meeting has other bots or another victor than its match. (meeting)" in out
    assert "cat: kept" in out
    assert out.splitlines()[-1].startswith("cup é: 6 matches of 18 turns replayed; 4 things are not as recorded.")
    report = json.loads(verify("cup é", "--json")[1])
    assert report["ok"] is False
    codes = {found["code"] for found in report["reports"][0]["findings"]}
    assert codes == {"state", "reason", "meeting", "standings"}


BROKEN: dict[str, dict[str, Any]] = {
    "no turns": {"$set": {"turns": None}},
    "nothing about it": {"$unset": {"match": 1}},
    "a text about it": {"$set": {"match": "lost"}},
    "no players": {"$set": {"players": None}},
    "no game": {"$unset": {"game": 1}},
    "bytes for a board": {"$set": {"board": b"1"}},
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_document_is_a_finding_and_no_traceback(verify: Verify, storage: Storage, how: str) -> None:
    """Of the match, and of its contest as far as that can still find it."""
    match_id = fill(storage)[0]
    storage.database["games"].update_one({"_id": match_id}, BROKEN[how])
    status, out, err = verify(match_id, "cup é")
    assert (status, err) == (1, ""), err
    told = {line.partition(":")[0] for line in out.splitlines() if "not as recorded" in line}
    assert told == {match_id, "cup é"}


def test_json_counts_what_was_looked_at(verify: Verify, storage: Storage) -> None:
    """Void matches are replayed too, and counted apart."""
    match_id = fill(storage)[0]
    assert storage.ledger.void(
        "numberwang", "cup é", match_id, VoidCause("me", "a cable"), lambda contest, *_: Change(contest, [])
    )
    status, out, _ = verify("cup é", match_id, "--json")
    report: Any = json.loads(out)
    assert (status, report["ok"]) == (0, True)
    contest, match = report["reports"]
    about = {"contest": "cup é", "game": "numberwang", "matches": 6, "void": 1, "turns": 18, "findings": []}
    assert contest == about
    assert match == {"match": match_id, "game": "numberwang", "matches": 1, "void": 1, "turns": 3, "findings": []}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no such",), "There is no contest 'no such'"),
        (("f" * 24,), "There is no finished match"),
        (("cup é", "--game", "chess"), "There is no contest 'cup é' of chess"),
        (("both",), "say which by --game"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_looked_at_is_no_success(
    words: tuple[str, ...], sentence: str, verify: Verify, storage: Storage
) -> None:
    """Status 2, and a sentence on stderr."""
    fill(storage)
    for game in ("numberwang", "connectfour"):
        storage.contests.open(game, "both", 5)
    status, out, err = verify(*words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_of_two_contests_of_one_name_the_game_says_which(verify: Verify, storage: Storage) -> None:
    """Names are unique within a game."""
    fill(storage)
    storage.contests.open("connectfour", "cup é", 5)
    assert verify("cup é", "--game", "numberwang")[0] == 0
    assert "0 matches of 0 turns" in verify("cup é", "--game", "connectfour")[1]


def test_an_overlong_match_is_replayed_whole(verify: Verify, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turns lie in several documents."""
    from battlebot.storage import archive

    monkeypatch.setattr(archive, "PART_BYTES", 150)
    match_id = fill(storage)[0]
    assert storage.database["turns"].count_documents({}) > 0
    assert verify("cup é", match_id)[0] == 0


def test_a_long_match_in_one_document_is_replayed_whole(verify: Verify, storage: Storage) -> None:
    """The list of a contest's matches is without its turns."""
    fill(storage)
    match_id, bots = f"{99:024x}", BOTS[:2]
    reserve(storage, "numberwang", "cup é", [{"match": match_id, "bots": bots, "n": 3}])
    moves = [Turned(bots[number % 2], {"n": 0}, 0.25) for number in range(LONG)]
    long = played([*moves, Turned(bots[0], {"n": 10}, 0.25)], bots=bots, contest="cup é", match_id=match_id)
    storage.archive.store([long])
    assert storage.database["turns"].count_documents({}) == 0
    status, out, err = verify("cup é")
    assert (status, err) == (0, ""), out
    assert f"7 matches of {18 + LONG + 1} turns replayed" in out


def test_the_data_of_a_stopped_server_are_verified_too(battlebot: Run, tmp_path: Path) -> None:
    """By its folder; without any data it is no success."""
    data = tmp_path / "data"
    with embedded_stores(Settings(data=data)) as running:
        storage = Storage(running)
        storage.ensure_indexes()
        fill(storage, "cup")
        storage.close()
    assert battlebot("verify", "cup", "--data", str(data)).returncode == 0
    assert battlebot("verify", "cup", "--data", str(tmp_path / "none")).returncode == 2
