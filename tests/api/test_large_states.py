"""Lists of matches whose states are large: a web node is one process, and bots play on it."""

from __future__ import annotations

import pytest
from webhouse import House

from battlebot.api import listed

GAME = "noughtsandcrosses"
MB = 1_000_000
PATHS = [f"/games/{GAME}", f"/games/{GAME}/contest/cup", f"/games/{GAME}/contest/cup?void=true"]


@pytest.fixture
def played(home: House) -> list[str]:
    """The ids of a contest's matches, of 1.5 MB each, newest first."""
    home.contest("cup", bots=("a", "b"))
    return [home.play("a", "b", "a", "cup", board="x" * (3 * MB // 2)) for _ in range(5)][::-1]


@pytest.mark.parametrize("path", [*PATHS, f"/games/{GAME}/player?name=a"])
def test_a_part_of_a_list_is_no_larger_than_four_megabytes(home: House, played: list[str], path: str) -> None:
    """It leads to the next part, until all have been listed once."""
    seen: list[list[str]] = []
    address: str | None = path
    while address is not None:
        answer = home.client.get(address)
        assert len(answer.data) < 4.1 * MB
        games = answer.json["games"] if isinstance(answer.json, dict) else answer.json
        seen.append([game["_id"] for game in games])
        address = answer.headers["Link"][1 : -len('>; rel="next"')] if "Link" in answer.headers else None
    assert seen == [played[:2], played[2:4], played[4:]]


@pytest.mark.parametrize("path", PATHS)
def test_a_match_that_is_larger_is_listed_alone(home: House, path: str) -> None:
    """Whatever its size, the list goes on."""
    home.contest("cup", bots=("a", "b"))
    ids = [home.play("a", "b", "a", "cup", board="x" * 5 * MB) for _ in range(2)]
    answer = home.client.get(path)
    games = answer.json["games"] if isinstance(answer.json, dict) else answer.json
    assert [game["_id"] for game in games] == ids[1:]
    assert f"before={ids[1]}" in answer.headers["Link"]


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_ascii_counts_by_its_bytes(home: House, path: str) -> None:
    """A sign may have four, in the answer and in memory: by signs a part had sixteen megabytes."""
    home.contest("cup", bots=("a", "b"))
    ids = [home.play("a", "b", "a", "cup", board="\N{GAME DIE}" * (MB * 3 // 8)) for _ in range(3)]
    answer = home.client.get(path)
    games = answer.json["games"] if isinstance(answer.json, dict) else answer.json
    assert len(answer.data) < 4.1 * MB
    assert [game["_id"] for game in games] == ids[:0:-1]


def test_what_is_remembered_of_lists_is_bounded_by_its_size(
    home: House, played: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by a number of matches."""
    monkeypatch.setattr(listed, "REMEMBERED_BYTES", 4 * MB)
    with home.app.app_context():
        kept = listed.listed()
        for _ in range(2):
            assert [entry.key for entry in kept.of_contest(GAME, "cup", 9, None)] == played
            assert len(kept._known) == 2
