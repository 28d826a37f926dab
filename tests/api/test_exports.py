"""A contest's matches as files: whole, in order, and never all in memory."""

from __future__ import annotations

import csv
import io
import json
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from records import reserve
from webhouse import CONTESTS, House, finished

from battlebot.api.concurrency import FILES
from battlebot.errors import Unavailable
from battlebot.storage import archive, batches, games

GAME = "noughtsandcrosses"


def lines(home: House, query: str = "") -> list[dict[str, Any]]:
    """The matches of the NDJSON."""
    answer = home.client.get(f"{CONTESTS}/cup/export.ndjson{query}")
    assert (answer.status_code, answer.mimetype) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def rows(home: House, query: str = "") -> list[dict[str, str]]:
    """The rows of the CSV."""
    answer = home.client.get(f"{CONTESTS}/cup/export.csv{query}")
    assert (answer.status_code, answer.mimetype) == (200, "text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_every_match_is_there_once_oldest_first(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the matches' own paths have them; those of other contests are not there, nor void ones unless asked for."""
    monkeypatch.setattr(batches, "FEWEST", 3)
    monkeypatch.setattr(sys.modules["battlebot.api.exports"], "PART", 300)
    home.contest("cup", bots=("a", "b"))
    home.contest("other", bots=("a", "b"))
    home.play("a", "b", "a", "other")
    ids = [home.play("a", "b", ["a", "b", None][n % 3], "cup") for n in range(10)]
    void = home.play("a", "b", "a", "cup", fault="server")
    assert [match["_id"] for match in lines(home)] == ids
    assert [row["match"] for row in rows(home)] == ids
    assert lines(home)[0] == home.client.get(f"/games/{GAME}/{ids[0]}").json
    assert [match["_id"] for match in lines(home, "?void=true")] == [*ids, void]
    assert [row["void"] for row in rows(home, "?void=true")] == ["false"] * 10 + ["true"]
    in_parts = home.client.get(f"{CONTESTS}/cup/export.csv", buffered=False)
    assert len(list(in_parts.iter_encoded())) > 2
    in_parts.close()
    assert [row["match"] for row in rows(home, "?fault=server")] == [void]
    assert [match["_id"] for match in lines(home, "?fault=server")] == [void]
    assert home.client.get(f"{CONTESTS}/cup/export.csv?void=1").json["field"] == "void"


def test_a_row_says_what_happened(home: House) -> None:
    """Without the turns; a draw has no victor."""
    home.contest("cup", bots=("a", "b"))
    home.play("a", "b", None, "cup")
    (row,) = rows(home)
    expected = {"game": GAME, "contest": "cup", "first": "a", "second": "b", "victor": "", "reason": "complete"}
    assert {name: row[name] for name in expected} == expected
    assert (row["fault"], row["turns"]) == ("none", "1")
    assert row["startTime"].startswith("2026-11-21T12:")
    home.play("a", "b", "b", "cup", match={**finished("a", "b", "b")["match"], "places": {"b": 1, "a": 2}})
    assert [row["places"] for row in rows(home)] == ["", "2 1"]


def test_no_name_becomes_a_formula(home: House) -> None:
    """A bot may be called anything; a spreadsheet must not run it. In the NDJSON it is what it is."""
    hostile = '=HYPERLINK("x,y")'
    home.contest("cup", bots=("a", hostile))
    home.play(hostile, "a", hostile, "cup")
    (row,) = rows(home)
    assert (row["first"], row["victor"], row["players"]) == (f"'{hostile}", f"'{hostile}", f"'{hostile}/a")
    assert lines(home)[0]["players"] == [hostile, "a"]


HIDDEN = [
    ("x;=1+1", "x;'=1+1"),
    ("x; =1", "x; '=1"),
    ('x;"=1', "x;\"'=1"),
    ("x|@y;-z", "x|'@y;'-z"),
    ("\uff1dcmd", "'\uff1dcmd"),
    ("a\uff1bb;\uff0b1", "a\uff1bb;'\uff0b1"),
    ("\ufe62x", "'\ufe62x"),
    ("a-b=c;d", "a-b=c;d"),
    ("'=x", "'=x"),
    ("--x", "'--x"),
]


@pytest.mark.parametrize(("name", "shown"), HIDDEN)
def test_no_part_of_a_name_becomes_a_formula(home: House, name: str, shown: str) -> None:
    """Where a spreadsheet splits at another sign than a comma, or takes signs of full width; all else stays."""
    home.contest("cup", bots=("a", name))
    home.play(name, "a", name, "cup")
    assert (rows(home)[0]["first"], rows(home)[0]["victor"]) == (shown, shown)
    assert lines(home)[0]["players"] == [name, "a"]


def test_what_is_asked_for_with_a_token_is_kept_by_no_cache(home: House) -> None:
    """Others may keep a file, and ask whether it is still so."""
    home.contest("cup", bots=("a", "b"))
    path = f"{CONTESTS}/cup/export.csv"
    answers = [home.client.get(path, headers=headers) for headers in ({}, {"Authorization": "Bearer token"})]
    assert [answer.headers["Cache-Control"] for answer in answers] == ["no-cache", "no-store"]


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_a_database_that_stops_answering_before_the_first_match_is_said(
    home: House, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """As everywhere in the API: by a 503 with a code, and the place for files is free again."""
    home.contest("cup", bots=("a", "b"))

    def fail(*_: object, **__: object) -> Iterator[dict[str, Any]]:
        raise Unavailable("MongoDB does not answer now.")
        yield {}

    monkeypatch.setattr(games.Games, "each_of_contest", fail)
    answer = home.client.get(f"{CONTESTS}/cup/export.{kind}")
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
    assert "Retry-After" in answer.headers
    assert len(home.app.extensions[FILES]) == 0


def test_an_empty_contest_is_an_empty_file(home: House) -> None:
    """With the head of the table; a download by name."""
    home.contest("cup")
    answer = home.client.get(f"{CONTESTS}/cup/export.csv")
    assert answer.text.count("\n") == 1
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''cup.csv"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    # nginx would collect it all
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert lines(home) == []
    assert home.client.head(f"{CONTESTS}/cup/export.ndjson").status_code == 200
    home.contest("Größter; \u4e16")
    named = home.client.get(f"{CONTESTS}/Größter; \u4e16/export.csv").headers["Content-Disposition"]
    assert named == "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fter%3B%20%E4%B8%96.csv"
    for kind in ("csv", "ndjson"):
        answer = home.client.get(f"{CONTESTS}/none/export.{kind}")
        assert (answer.status_code, answer.json["code"]) == (404, "unknown-contest")


def long_match(turns: int) -> dict[str, Any]:
    """A finished match of so many turns."""
    match = finished("a", "b", "a", "cup", turns=[{"n": n, "player": "a", "time": n} for n in range(turns)])
    match["match"]["clocks"] = list(range(turns))
    match["match"]["serverMs"] = list(range(turns, 0, -1))
    return match


def test_an_overlong_match_comes_whole(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turns lie in several documents; the line is one, and as its own path has it."""
    monkeypatch.setattr(archive, "PART_BYTES", 1000)
    home.contest("cup", bots=("a", "b"))
    match = long_match(100)
    reserve(home.storage, GAME, "cup", [{"match": match["_id"], "bots": ["a", "b"], "n": 1}])
    home.storage.archive.store([match])
    home.play("a", "b", "b", "cup", n=2)
    found = lines(home)
    assert len(found) == 2
    assert found[0]["match"]["parts"] >= 3
    assert found[0] == home.client.get(f"/games/{GAME}/{match['_id']}").json
    assert [turn["n"] for turn in found[0]["turns"]] == list(range(100)) == found[0]["match"]["clocks"]
    assert found[0]["match"]["serverMs"] == list(range(100, 0, -1))


def test_memory_does_not_grow_with_the_contest(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is read piece by piece: what is held meanwhile is a small part of it."""
    monkeypatch.setattr(archive, "PART_BYTES", 20_000)
    monkeypatch.setattr(batches, "BATCH_BYTES", 1000)
    home.contest("cup", bots=("a", "b"))
    documents = [long_match(4000) for _ in range(20)]
    wanted = [{"match": match["_id"], "bots": ["a", "b"], "n": n} for n, match in enumerate(documents)]
    reserve(home.storage, GAME, "cup", wanted)
    home.storage.archive.store(documents)
    del documents
    tracemalloc.start()
    answer = home.client.get(f"{CONTESTS}/cup/export.ndjson", buffered=False)
    size = sum(len(piece) for piece in answer.iter_encoded())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    answer.close()
    assert size > 3_000_000
    assert peak < size / 3


@pytest.mark.parametrize("part_bytes", [4_000_000, 100_000])
def test_a_long_match_is_read_a_part_at_a_time(home: House, monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    """As JSON and in the file, from one document or several; all of it, though little is in memory at any moment."""
    monkeypatch.setattr(archive, "PART_BYTES", part_bytes)
    monkeypatch.setattr(games, "ENTRIES_AT_ONCE", {"turns": 1000, "clocks": 700, "serverMs": 700})
    home.contest("cup", bots=("a", "b"))
    match = long_match(15_001)
    match["match"]["version"] = 15_001
    reserve(home.storage, GAME, "cup", [{"match": match["_id"], "bots": ["a", "b"], "n": 1}])
    home.storage.archive.store([match])
    path = f"/games/{GAME}/{match['_id']}"
    whole = home.storage.games.find(match["_id"])
    assert whole is not None
    tracemalloc.start()
    answer = home.client.get(path, buffered=False)
    size = sum(len(piece) for piece in answer.iter_encoded())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    answer.close()
    assert peak < 2 * size
    found = home.client.get(path).json
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert found == lines(home)[0]
    assert (found["turns"], found["match"]["clocks"]) == (whole["turns"], whole["match"]["clocks"])
    assert found["match"].keys() == {*whole["match"], "sentence"}
    assert home.client.get(f"/games/gomoku/{match['_id']}").status_code == 404
    assert home.client.head(path).status_code == 200
