"""A contest's matches, meetings and cap: what belongs together, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import pytest
from cup import cup

from battlebot.contests.checks import check_contest

CONTEST = cup()


class Kept:
    """A contest of three bots: five matches of a and b, one void, one absence of c."""

    def __init__(self) -> None:
        self.games: list[dict[str, Any]] = []
        self.meetings: list[dict[str, Any]] = []
        for n in range(1, 6):
            self.add(f"ab{n}", ["ab", "ba"][n % 2], n)
        self.games.append({"_id": "void", "players": ["a", "b"], "victor": None, "match": {"void": True}})
        absent = {"_id": "away", "bots": ["a", "c"], "n": 1, "state": "absent", "victor": "a"}
        self.meetings.append(absent)
        self.meetings.append({"_id": "live", "bots": ["b", "c"], "n": 1, "state": "open"})

    def add(self, match_id: str, bots: str, n: int) -> None:
        """A played meeting with its match."""
        self.games.append({"_id": match_id, "players": list(bots), "victor": "a", "match": {"void": False}})
        self.meetings.append({"_id": match_id, "bots": list(bots), "n": n, "state": "played", "victor": "a"})


class Stored(dict[str, Any]):
    """A stored match; unlike a dictionary, it can be asked whether it is still in memory."""


def test_no_match_is_kept_in_memory_as_a_whole() -> None:
    """A contest may have hundreds of thousands, each with a large state."""
    kept, seen = Kept(), list[ref[Stored]]()

    def games() -> Iterator[Stored]:
        while kept.games:
            game = Stored(kept.games.pop(), board=[""] * 1000)
            seen.append(ref(game))
            yield game

    def meetings() -> Iterator[dict[str, Any]]:
        assert [one() for one in seen] == [None] * 6
        yield from kept.meetings

    assert check_contest(CONTEST, games(), meetings()) == []


def test_what_belongs_together_is_no_finding() -> None:
    """Void matches need no meeting, absences and live meetings no match."""
    kept = Kept()
    assert check_contest(CONTEST, kept.games, kept.meetings) == []


def test_without_the_format_the_rest_is_checked() -> None:
    """The cap may depend on the format: that it cannot be checked is a finding."""
    kept = Kept()
    kept.meetings.pop(0)
    found = check_contest(cup(format="derby"), kept.games, kept.meetings)
    assert [row["code"] for row in found] == ["format-missing", "no-meeting"]
    assert "derby" in found[0]["sentence"]


BROKEN: dict[str, tuple[Callable[[Kept], object], set[str]]] = {
    "a sixth match": (lambda kept: kept.add("ab6", "ab", 6), {"over-cap"}),
    "a sixth match under an old number": (lambda kept: kept.add("ab6", "ba", 2), {"over-cap", "same-meeting"}),
    "a sixth match without a meeting": (
        lambda kept: kept.games.append({**kept.games[0], "_id": "ab6"}),
        {"over-cap", "no-meeting"},
    ),
    "an absence beyond the cap": (
        lambda kept: kept.meetings.append({"_id": "x", "bots": ["b", "a"], "n": 5, "state": "absent", "victor": "a"}),
        {"over-cap", "same-meeting"},
    ),
    "a match whose meeting is open": (lambda kept: kept.meetings[0].update(state="open"), {"no-meeting"}),
    "a match whose meeting is gone": (lambda kept: kept.meetings.pop(0), {"no-meeting"}),
    "a meeting whose match is gone": (lambda kept: kept.games.pop(0), {"no-match"}),
    "a meeting whose match is void": (lambda kept: kept.games[0]["match"].update(void=True), {"no-match"}),
    "another victor": (lambda kept: kept.meetings[0].update(victor="b"), {"meeting"}),
    "another first mover": (lambda kept: kept.games[0].update(players=["a", "b"]), {"meeting"}),
    "a number of nothing": (lambda kept: kept.meetings[0].update(n=0), {"over-cap"}),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_does_not_belong_together_is_found(broken: str) -> None:
    """By its code, and with a sentence."""
    spoil, codes = BROKEN[broken]
    kept = Kept()
    spoil(kept)
    found = check_contest(CONTEST, kept.games, kept.meetings)
    assert {one["code"] for one in found} == codes
    assert all(one["sentence"].endswith(".") for one in found)
    assert {one.get("match") for one in found} <= {"ab1", "ab6", "x", None}
    assert all("match" in one for one in found if one["code"] not in {"over-cap", "same-meeting"})


def test_all_battles_share_one_numbering() -> None:
    """Whoever is in each: a bot may have withdrawn."""
    champion = cup(format="champion", config={"battles": 2}, entrants=["a", "b", "c"])
    battles = [(1, "abc", "played"), (2, "ab", "absent"), (2, "bc", "absent")]
    meetings = [{"_id": f"{n}{bots}", "bots": list(bots), "n": n, "state": state} for n, bots, state in battles]
    game = {"_id": "1abc", "players": list("abc"), "victor": None, "match": {"void": False}}
    assert check_contest(champion, [game], meetings[:2]) == []
    assert [(one["code"], one["sentence"]) for one in check_contest(champion, [game], meetings)] == [
        ("over-cap", "All have met 3 times; 2 are allowed."),
        ("same-meeting", "All have met 2 times for the 2. time."),
    ]
