"""Connect Four's own rules, as docs/games/connectfour.md has them."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.rules.module import game_from_module
from games import connectfour as game

X, O = "cross", "nought"  # noqa: E741


def at(rows: str = "", mover: str = X) -> dict[str, Any]:
    """A state whose lowest rows are those given, such as "X...... XO.....", the lowest last."""
    lowest = [["" if mark == "." else mark for mark in row] for row in rows.split()]
    return {
        "players": [X, O],
        "nextPlayer": mover,
        "complete": False,
        "board": [[""] * 7 for _ in range(6 - len(lowest))] + lowest,
        "marks": {"X": X, "O": O},
    }


def drop(state: dict[str, Any], column: Any) -> dict[str, Any]:
    """The state after the next player's turn in that column."""
    turn = {"column": column, "player": state["nextPlayer"]}
    assert game.validate(state, turn)
    return game.reducer(state, turn)


def test_seven_columns_and_six_rows() -> None:
    """The first state."""
    assert game.initial_state([X, O], 3, {}) == at()


def test_marks_fall_and_pile_up() -> None:
    """The lowest empty space of the column takes the mark; the other bot is next."""
    assert drop(drop(drop(at(), 3), 3), 0) == at("...O... X..X...", O)


@pytest.mark.parametrize(
    "column", [None, True, False, -1, 7, 3.0, 0.5, "3", [3], {}, 10**400, float("nan")], ids=lambda v: repr(v)[:12]
)
def test_what_is_no_column_is_told_so(column: Any) -> None:
    """An integer of 0 to 6, nothing else."""
    turn = {"column": column, "player": X}
    assert game.validate(at(), turn) is False
    assert "0 to 6" in game.explain(at(), turn)


def test_a_full_column_takes_no_more() -> None:
    """And the sentence says which."""
    state = at("..O.... ..X.... ..O.... ..X.... ..O.... ..X....")
    assert game.validate(state, {"column": 2, "player": X}) is False
    assert game.explain(state, {"column": 2, "player": X}) == "Column 2 is full."
    assert game.validate(state, {"column": 3, "player": X})


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ("XXX....", 3),
        ("...X.XX", 4),
        ("OOO.... ...XXX. OOXOOO.", 2),
        ("X...... X...... X......", 0),
        ("......X ......X ......X", 6),
        ("..XO... .XOO... XOOO...", 3),
        ("....X.. ....O.. ..XOO.. .XOOO..", 3),
        ("..X.... ..OX... ..OOX.. ..OOO..", 5),
        (".X..... .OX.... .OO.... .OOOX..", 3),
        ("OX..... OOX.... OOOX... OOXO...", 0),
    ],
)
def test_four_in_a_line_win(rows: str, column: int) -> None:
    """Across, up, and both diagonals, completed at an end or in the middle."""
    state = drop(at(rows), column)
    assert _has_four(state["board"], "X")
    assert (state["complete"], state["victor"], state["reason"], state["nextPlayer"]) == (True, X, "complete", O)


def _has_four(board: list[list[str]], mark: str) -> bool:
    """The rule said in another way: every window of four, looked through."""
    windows = [
        [(r + i * down, c + i * right) for i in range(4)]
        for r in range(6)
        for c in range(7)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    inside = [window for window in windows if all(0 <= r < 6 and 0 <= c < 7 for r, c in window)]
    return any(all(board[r][c] == mark for r, c in window) for window in inside)


def test_the_winner_is_found_whenever_there_is_one(random_play: Any) -> None:
    """Two hundred random matches against a look through the whole board."""
    wins = 0
    for seed in range(200):
        *_, (state, _) = random_play(game_from_module(game), seed)
        victor = next((state["marks"][mark] for mark in "XO" if _has_four(state["board"], mark)), None)
        assert state["victor"] == victor
        wins += victor is not None
    assert wins > 100


def test_a_complete_match_takes_no_turn() -> None:
    """Not even of the bot that would be next, in a free column."""
    state = drop(at("XXX.OOO"), 3)
    assert not game.validate(state, {"column": 0, "player": O})


def test_three_do_not_win() -> None:
    """Nor do four with a gap."""
    assert not drop(at("XX.OX.."), 5)["complete"]


def test_a_full_board_is_a_draw() -> None:
    """Forty-two marks without a line: `victor` is there, and null."""
    state = at()
    for column in "330254564223355224331121550404466660106011":
        assert not state["complete"]
        state = drop(state, int(column))
    assert (state["complete"], state["victor"], state["reason"]) == (True, None, "complete")


def test_a_board_is_shown_from_the_top() -> None:
    """The columns' numbers below it."""
    empty = ". . . . . . .\n"
    assert game.render(at("...O... X..X...")) == empty * 4 + ". . . O . . .\nX . . X . . .\n0 1 2 3 4 5 6"
