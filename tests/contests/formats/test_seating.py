"""Seating who waits at what is due."""

from __future__ import annotations

import pytest

from battlebot.contests.formats.record import Waiter
from battlebot.contests.formats.seating import check_fields, seated
from battlebot.contests.formats.situation import Due
from battlebot.errors import Refused

# what is due (first mover first), who waits in order (bot and ticket), who sits down
CASES = [
    ("nobody waits", "ab", "", []),
    ("one of the two waits", "ab", "a1", []),
    ("both wait", "ab", "b1 a1", ["a1b1"]),
    ("what is due first comes first", "ac ab", "a1 b1 c1", ["a1c1"]),
    ("what is due later, where the first cannot be", "ac ab", "a1 b1", ["a1b1"]),
    ("two tickets sit down twice, the longer waiting first", "ab ac", "a2 a1 b1 c1", ["a2b1", "a1c1"]),
    ("a ticket too many waits on", "ab", "a1 a2 b1", ["a1b1"]),
    ("one that is not due waits on", "ab", "x1 a1 b1", ["a1b1"]),
]


@pytest.mark.parametrize(("due", "waiting", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_who_sits_down(due: str, waiting: str, expected: list[str]) -> None:
    """Each row: what is due, who waits, who meets."""
    meetings = [Due(7, 3, first, second) for first, second in due.split()]
    pairings = seated(meetings, [Waiter(ticket[0], ticket) for ticket in waiting.split()])
    assert [one.first.ticket + one.second.ticket for one in pairings] == expected
    assert all((one.round, one.n) == (7, 3) for one in pairings)


@pytest.mark.parametrize(
    ("known", "entrants", "sentence"),
    [
        (("rounds", "pace"), "ab", "This format has no setting 'x'; it has: rounds, pace."),
        ((), "ab", "This format has no setting 'x', nor any other."),
        (("x",), "abcb", "The bot 'b' is entered twice."),
    ],
)
def test_what_is_wrong_is_named(known: tuple[str, ...], entrants: str, sentence: str) -> None:
    """With what would be right."""
    with pytest.raises(Refused) as refused:
        check_fields({"x": 1}, known, list(entrants))
    assert str(refused.value) == sentence
