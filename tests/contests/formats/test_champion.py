"""Champion: battles of all together."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from playing import contest

from battlebot.contests.formats import format_named
from battlebot.contests.formats.champion import complete, due, merit, pair, planned
from battlebot.contests.formats.record import Waiter
from battlebot.contests.formats.situation import Met, Situation

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
    assert [f"{one.n}{''.join(one.bots)}" for one in due(now)] == expected
    assert all(one.round == one.n for one in due(now))


def test_who_is_gone_keeps_no_contest_from_its_end() -> None:
    """Complete when every battle is over; not while one is being played."""
    now = contest(FORM, 3, 5, {"battles": 2})
    assert (complete(now), planned(now)) == (False, 2)
    over = replace(now, met=(met(1, "abc"), met(2, "ab", "open")))
    assert not complete(over)
    assert complete(replace(now, met=(met(1, "abc"), met(2, "ab"))))
    left = replace(now, met=(met(1, "abc"),), withdrawn=frozenset("bc"))
    assert (complete(left), planned(left)) == (True, 1)


def test_a_battle_begins_when_all_wait_and_several_where_all_wait_on_several_connections() -> None:
    """Nobody sits down twice with one ticket."""
    now = contest(FORM, 3, 5, {"battles": 5})
    tickets = [Waiter(bot, f"{bot}{index}") for index, bot in enumerate("abacbbca")]
    assert pair(now, tickets[:3]) == []
    pairings = pair(now, tickets)
    assert [(one.n, [waiter.bot for waiter in one.waiters]) for one in pairings] == [
        (1, ["a", "b", "c"]),
        (2, ["b", "c", "a"]),
    ]
    sitting = Counter(waiter for one in pairings for waiter in one.waiters)
    assert max(sitting.values()) == 1


def test_first_seats_are_balanced() -> None:
    """Over as many battles as there are bots each sits everywhere once."""
    now = contest(FORM, 7, 5, {"battles": 70})
    seats = Counter((bot, seat) for one in due(now) for seat, bot in enumerate(one.bots))
    assert set(seats.values()) == {10}
    assert len(seats) == 49


def test_most_wins_then_most_ticks() -> None:
    """Nothing else counts."""
    rows = [
        {"bot_id": "a", "wins": 2, "scored": 5},
        {"bot_id": "b", "wins": 2, "scored": 9},
        {"bot_id": "c", "wins": 3, "scored": 1},
    ]
    assert [row["bot_id"] for row in sorted(rows, key=merit, reverse=True)] == ["c", "b", "a"]


@pytest.mark.parametrize("seed", range(200))
def test_every_battle_is_fought_once_whatever_happens(seed: int) -> None:
    """Dice for ends, voids, withdrawals and who is gone: numbers 1 to the last, each once, and an end."""
    dice = random.Random(seed)
    now: Situation = contest(FORM, dice.randint(2, 6), 5, {"battles": dice.randint(1, 12)})
    for _ in range(2000):
        if complete(now):
            break
        live = [one for one in now.met if one.state == "open"]
        choice = dice.random()
        if live and choice < 0.4:
            over = dice.choice(live)
            kept = () if dice.random() < 0.2 else (replace(over, state="played", victor=dice.choice(over.bots)),)
            now = replace(now, met=(*(one for one in now.met if one is not over), *kept))
        elif choice < 0.42:
            now = replace(now, withdrawn=now.withdrawn | {dice.choice(now.entrants)})
            now = replace(
                now, met=tuple(one for one in now.met if one.state != "open" or not now.withdrawn & {*one.bots})
            )
        else:
            now = replace(now, gone=frozenset(bot for bot in now.entrants if dice.random() < 0.1))
            waiting = [Waiter(bot, f"{bot}{n}") for bot in now.entrants for n in range(dice.randint(0, 3))]
            for pairing in pair(now, waiting):
                bots = "".join(waiter.bot for waiter in pairing.waiters)
                assert not {*bots} & (now.withdrawn | now.gone)
                now = replace(now, met=(*now.met, met(pairing.n, bots, "open")))
        numbers = [one.n for one in now.met]
        assert len(set(numbers)) == len(numbers)
    assert complete(now)
    assert planned(now) == len(now.met)
