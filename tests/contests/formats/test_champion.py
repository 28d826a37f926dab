"""Champion: battles of all together."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from playing import battles_to_the_end, contest

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import Waiter
from battlebot.contests.formats.situation import Met

FORM = format_named("champion")


def met(n: int, bots: str, state: str = "played", victor: str | None = None) -> Met:
    """The n-th battle."""
    first, second, *others = bots
    return Met(n, n, first, second, state, victor, others=tuple(others))


# battles so far, who withdrew, who is gone, what is due: its number and its seats; four bots, three battles
CASES = [
    ("at first all battles, the seats going round", [], "", "", ["1abcd", "2bcda", "3cdab"]),
    ("what is being played is not due again", [met(1, "abcd", "open")], "", "", ["2bcda", "3cdab"]),
    ("what is over neither, nor what nobody came to", [met(1, "abcd"), met(3, "cdab", "absent")], "", "", ["2bcda"]),
    ("a void number comes again", [met(2, "bcda")], "", "", ["1abcd", "3cdab"]),
    ("who withdrew is left out", [met(1, "abcd")], "b", "", ["2cda", "3dac"]),
    ("who is gone as well", [met(1, "abcd")], "b", "d", ["2ca", "3ac"]),
    ("one alone fights no battle", [], "ab", "c", []),
    ("all is over", [met(n, "abcd") for n in (1, 2, 3)], "", "", []),
]


@pytest.mark.parametrize(
    ("so_far", "left", "gone", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_due(so_far: list[Met], left: str, gone: str, expected: list[str]) -> None:
    """Each row: the battles so far, who withdrew, who is gone, what is due."""
    now = contest(FORM, 4, 5, {"battles": 3})
    now = replace(now, met=tuple(so_far), withdrawn=frozenset(left), gone=frozenset(gone))
    assert [f"{one.n}{''.join(one.bots)}" for one in FORM.due(now)] == expected
    assert all(one.round == one.n for one in FORM.due(now))


def test_who_is_gone_keeps_no_contest_from_its_end() -> None:
    """Complete when every battle is over; not while one is being played."""
    now = contest(FORM, 3, 5, {"battles": 2})
    assert (FORM.complete(now), FORM.planned(now)) == (False, 2)
    over = replace(now, met=(met(1, "abc"), met(2, "ab", "open")))
    assert not FORM.complete(over)
    assert FORM.complete(replace(now, met=(met(1, "abc"), met(2, "ab"))))
    left = replace(now, met=(met(1, "abc"),), withdrawn=frozenset("bc"))
    assert (FORM.complete(left), FORM.planned(left)) == (True, 1)


def test_a_battle_begins_when_all_wait_and_several_where_all_wait_on_several_connections() -> None:
    """Nobody sits down twice with one ticket."""
    now = contest(FORM, 3, 5, {"battles": 5})
    tickets = [Waiter(bot, f"{bot}{index}") for index, bot in enumerate("abacbbca")]
    assert FORM.pair(now, tickets[:3]) == []
    pairings = FORM.pair(now, tickets)
    assert [(one.n, [waiter.bot for waiter in one.waiters]) for one in pairings] == [
        (1, ["a", "b", "c"]),
        (2, ["b", "c", "a"]),
    ]
    sitting = Counter(waiter for one in pairings for waiter in one.waiters)
    assert max(sitting.values()) == 1


def test_first_seats_are_balanced() -> None:
    """Over as many battles as there are bots each sits everywhere once."""
    now = contest(FORM, 7, 5, {"battles": 70})
    seats = Counter((bot, seat) for one in FORM.due(now) for seat, bot in enumerate(one.bots))
    assert set(seats.values()) == {10}
    assert len(seats) == 49


def test_most_wins_then_most_ticks() -> None:
    """Nothing else counts."""
    rows = [
        {"bot_id": "a", "wins": 2, "losses": 0, "scored": 5},
        {"bot_id": "b", "wins": 2, "losses": 7, "scored": 9},
        {"bot_id": "c", "wins": 3, "losses": 1, "scored": 1},
    ]
    ranked = FORM.ranking("abcd", rows, lambda bots: {}, (3, 1, 0), {})
    assert [(row["rank"], row["bot_id"], row["score"]) for row in ranked] == [
        (1, "c", 3),
        (2, "b", 2),
        (3, "a", 2),
        (4, "d", 0),
    ]


@pytest.mark.parametrize("seed", range(200))
def test_every_battle_is_fought_once_whatever_happens(seed: int) -> None:
    """Few bots, few battles, so that who leaves is often the last."""
    dice = random.Random(seed)
    battles_to_the_end(FORM, contest(FORM, dice.randint(2, 6), 5, {"battles": dice.randint(1, 12)}), dice)
