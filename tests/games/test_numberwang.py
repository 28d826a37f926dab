"""Numberwang's own rules, as docs/games/numberwang.md has them."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from games import numberwang

ONE, TWO = "one", "two"


def at(n: float, mover: str = ONE) -> dict[str, Any]:
    """A state with n on the board."""
    return {"players": [ONE, TWO], "nextPlayer": mover, "complete": False, "board": {"n": n}}


def test_the_board_begins_at_zero() -> None:
    """The shape of the original's first update."""
    assert numberwang.initial_state([ONE, TWO], 5, {}) == at(0)


LARGEST = sys.float_info.max


@pytest.mark.parametrize(
    "n", [0, 1, -1, 9, 0.5, -2.25, -0.0, 1_000_000, 2**53, -(2**63), 1e15, -1.7e308, LARGEST, -LARGEST], ids=repr
)
def test_a_number_is_valid(n: Any) -> None:
    """Whole or not, zero too, up to the largest that a double holds."""
    assert numberwang.validate(at(0), {"n": n, "player": ONE})


@pytest.mark.parametrize(
    ("n", "word"),
    [
        (None, "number"),
        (True, "number"),
        (False, "number"),
        ("3", "number"),
        ([3], "number"),
        ({"n": 3}, "number"),
        (10**400, "between"),
        (float("inf"), "between"),
        (float("nan"), "between"),
    ],
    ids=repr,
)
def test_other_values_are_not(n: Any, word: str) -> None:
    """Each is explained by what is wrong with it."""
    turn = {"n": n, "player": ONE}
    assert not numberwang.validate(at(0), turn)
    assert word in numberwang.explain(at(0), turn)


def test_a_turn_needs_its_key() -> None:
    """Without "n" the sentence names it."""
    assert not numberwang.validate(at(0), {"player": ONE})
    assert '"n"' in numberwang.explain(at(0), {"player": ONE})


@pytest.mark.parametrize(
    ("before", "mover", "n", "after", "victor"),
    [
        (9, ONE, 1, 10, ONE),
        (9, TWO, 1, 10, ONE),
        (9, TWO, 2.5, 11.5, ONE),
        (-9, ONE, -1, -10, TWO),
        (0, TWO, -1_000_000, -1_000_000, TWO),
        (9, ONE, 2**63 - 1, 2.0**63, ONE),
        (-9.5, TWO, -(2**63), -(2.0**63), TWO),
        (9, ONE, 1.7976931348623157e308, 1.7976931348623157e308, ONE),
    ],
)
def test_ten_decides(before: float, mover: str, n: float, after: float, victor: str) -> None:
    """The side of the goal decides, not who moved."""
    state = numberwang.reducer(at(before, mover), {"n": n, "player": mover})
    other = TWO if mover == ONE else ONE
    assert state == {**at(after, other), "complete": True, "victor": victor, "reason": "complete"}


@pytest.mark.parametrize(
    ("before", "n", "after"),
    [
        (0, 3, "3"),
        (0, 3.0, "3"),
        (0.5, 1.5, "2"),
        (0, -0.0, "0"),
        (0, 2.5, "2.5"),
        (1, 2**53 - 1, "9007199254740992"),
        (1, 2**53, "9007199254740992.0"),
        (-1, -(2**53), "-9007199254740992.0"),
    ],
)
def test_whole_numbers_stay_whole_up_to_two_to_the_53rd(before: float, n: float, after: str) -> None:
    """As JSON shows them, also those that come as floats, as in the original; beyond, a sum is a float."""
    assert json.dumps(numberwang.reducer(at(before), {"n": n, "player": ONE})["board"]["n"]) == after


@pytest.mark.parametrize(("before", "n", "after"), [(0, 0, 0), (8, 1, 9), (-9, -0.5, -9.5), (9, -19 + 1, -9)])
def test_short_of_ten_the_other_bot_is_next(before: float, n: float, after: float) -> None:
    """Neither victor nor reason is there yet."""
    assert numberwang.reducer(at(before), {"n": n, "player": ONE}) == at(after, TWO)


def test_a_complete_match_takes_no_turn() -> None:
    """Not even of the bot that would be next."""
    state = numberwang.reducer(at(9), {"n": 1, "player": ONE})
    assert not numberwang.validate(state, {"n": 1, "player": TWO})


def test_the_number_is_shown_between_the_goals() -> None:
    """Whoever's they are."""
    assert numberwang.render(at(-3)) == "-10 <= -3 <= 10"
