"""Gauntlet: one against all."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from playing import CALM, Playing, Trouble, contest, first_moves, results, times_met

from battlebot.contests.formats import format_named

FORM = format_named("gauntlet")

# meetings so far (see `results`), who withdrew, what is due with its n; the champion is a, of four bots, twice each
CASES = [
    ("at first everyone", "", "", ["1ab", "1ca", "1ad"]),
    ("who plays is not due, the others are", "ab?", "", ["1ca", "1ad"]),
    ("fewer meetings first, first moves alternate", "ab+", "", ["1ca", "1ad", "2ba"]),
    ("an absent one counts as met", "ab!", "", ["1ca", "1ad", "2ba"]),
    ("who has met so often is done", "ab+ ba-", "", ["1ca", "1ad"]),
    ("who withdrew is not due", "", "b", ["1ca", "1ad"]),
    ("the champion withdrew", "ab+", "a", []),
    ("all is played", "ab+ ba= ca- ac+ ad0 da~", "", []),
]


@pytest.mark.parametrize(("met", "gone", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_due(met: str, gone: str, expected: list[str]) -> None:
    """Each row: the meetings so far, who withdrew, what is due."""
    now = replace(contest(FORM, 4, 2), met=results(met), withdrawn=frozenset(gone))
    assert [f"{one.n}{one.first}{one.second}" for one in FORM.due(now)] == expected
    assert all(one.round == one.n for one in FORM.due(now))
    assert FORM.complete(now) == (not expected)


PLANS = [
    ("at first all", "", "", 6),
    ("what is played is a part of it", "ab+ ca- ba?", "", 6),
    ("who withdrew leaves the rest unplayed", "ab+ ca-", "b", 5),
    ("who withdrew before it played leaves all", "ca-", "b", 4),
    ("without the champion nothing follows", "ab+ ca-", "a", 2),
]


@pytest.mark.parametrize(("met", "gone", "expected"), [plan[1:] for plan in PLANS], ids=[plan[0] for plan in PLANS])
def test_what_is_planned(met: str, gone: str, expected: int) -> None:
    """Each row: the meetings so far, who withdrew, how many there will have been in the end."""
    now = replace(contest(FORM, 4, 2), met=results(met), withdrawn=frozenset(gone))
    assert FORM.planned(now) == expected


def test_challengers_may_not_meet() -> None:
    """Only the champion and one of them."""
    now = contest(FORM, 3, 2, {"champion": "b"})
    assert [two for two in ("ab", "ac", "bc") if FORM.may_meet(now)(*two)] == ["ab", "bc"]


def test_a_void_number_comes_again() -> None:
    """Number 1 is missing, 2 has been played: 1 is due, as it was."""
    now = contest(FORM, 2, 3)
    now = replace(now, met=results("ab+ ba+")[1:])
    assert [(one.n, one.first) for one in FORM.due(now)] == [(1, "a")]


@pytest.mark.parametrize("champion", ["a", "c", "f"])
def test_only_the_champion_meets_everyone_exactly_so_often(champion: str) -> None:
    """First moves within one for everybody, and alternating within a pair."""
    for seed in range(20):
        trouble = CALM if seed % 2 else Trouble(absent=0.2, voids=5)
        now = contest(FORM, 6, 1 + seed % 5, {"champion": champion})
        assert FORM.planned(now) == 5 * now.meetings
        end = Playing(FORM, now, random.Random(seed), trouble).to_the_end()
        assert set(times_met(end).values()) == {now.meetings}
        assert all(champion in pair for pair in times_met(end))
        assert len(times_met(end)) == 5
        assert max(map(abs, first_moves(end).values())) <= 1
