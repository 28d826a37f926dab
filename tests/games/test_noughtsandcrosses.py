"""Noughts and crosses: the rules, and the messages of the original's example."""

from __future__ import annotations

from typing import Any

import pytest

from games import noughtsandcrosses as game

X, O = "IdiotBot2", "IdiotBot"  # noqa: E741


def board(text: str) -> list[list[str]]:
    """A board from rows such as "XO. ... ..X"."""
    return [["" if mark == "." else mark for mark in row] for row in text.split()]


def at(text: str, mover: str = X) -> dict[str, Any]:
    """A state with that board."""
    return {
        "players": [X, O],
        "nextPlayer": mover,
        "complete": False,
        "board": board(text),
        "marks": {"X": X, "O": O},
    }


def turn(mark: Any, space: Any, player: str = X) -> dict[str, Any]:
    """A turn as it reaches the game."""
    return {"mark": mark, "space": space, "player": player}


def test_the_first_state_is_the_seeds() -> None:
    """Compared with the example in the original's readme."""
    assert game.initial_state([X, O], 9, {}) == at("... ... ...")


def test_the_last_state_is_the_seeds() -> None:
    """After the winning turn the other bot is next, as in the original's example."""
    state = game.reducer(at("OOX XO. OXX"), {**turn("X", [1, 2]), "time": 1498036964996, "valid": True})
    assert state == {
        "players": [X, O],
        "nextPlayer": O,
        "complete": True,
        "board": [["O", "O", "X"], ["X", "O", "X"], ["O", "X", "X"]],
        "marks": {"X": X, "O": O},
        "victor": X,
        "reason": "complete",
    }


@pytest.mark.parametrize(
    ("mark", "space", "word"),
    [
        ("O", [0, 1], '"X"'),
        ("x", [0, 1], '"X"'),
        ("", [0, 1], '"X"'),
        (None, [0, 1], '"X"'),
        ([], [0, 1], '"X"'),
        ({}, [0, 1], '"X"'),
        (True, [0, 1], '"X"'),
        ("X", None, "[row, column]"),
        ("X", 4, "[row, column]"),
        ("X", "01", "[row, column]"),
        ("X", {"0": 0, "1": 1}, "[row, column]"),
        ("X", [], "[row, column]"),
        ("X", [1], "[row, column]"),
        ("X", [1, 1, 1], "[row, column]"),
        ("X", [3, 0], "[row, column]"),
        ("X", [0, -1], "[row, column]"),
        ("X", [1.0, 1], "[row, column]"),
        ("X", [1, 1e0], "[row, column]"),
        ("X", [True, 1], "[row, column]"),
        ("X", [1, False], "[row, column]"),
        ("X", ["1", 1], "[row, column]"),
        ("X", [[1], 1], "[row, column]"),
        ("X", [10**400, 1], "[row, column]"),
        ("X", [0, 0], "taken"),
        ("X", [2, 2], "taken"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_an_invalid_turn_is_told_why(mark: Any, space: Any, word: str) -> None:
    """One's own mark, two integers of 0 to 2, an empty space."""
    state = at("X.. ... ..O")
    assert game.validate(state, turn(mark, space)) is False
    assert word in game.explain(state, turn(mark, space))


@pytest.mark.parametrize(("mover", "mark"), [(X, "X"), (O, "O")])
def test_one_is_told_ones_own_mark(mover: str, mark: str) -> None:
    """Whoever moves with the other's."""
    state, wrong = at("... ... ...", mover), "O" if mark == "X" else "X"
    assert f'"{mark}"' in game.explain(state, turn(wrong, [0, 0], mover))


def test_nobody_moves_out_of_turn() -> None:
    """Nor with its own mark in an empty space."""
    assert not game.validate(at("X.. ... ...", O), turn("X", [1, 1], X))
    assert not game.validate(at("... ... ...", X), turn("O", [1, 1], O))


def test_every_empty_space_is_valid() -> None:
    """And no other."""
    state = at("X.O .X. O..", O)
    valid = {(r, c) for r in range(3) for c in range(3) if game.validate(state, turn("O", [r, c], O))}
    assert valid == {(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)}


@pytest.mark.parametrize(
    ("before", "space"),
    [
        (".XX OO. ...", [0, 0]),
        ("OO. X.X ...", [1, 1]),
        ("OO. ... XX.", [2, 2]),
        ("X.O XO. ...", [2, 0]),
        ("OXO .X. ...", [2, 1]),
        ("O.X O.X ...", [2, 2]),
        ("XO. .X. O..", [2, 2]),
        ("O.X OX. ...", [2, 0]),
        ("XOX O.O XOX", [1, 1]),
    ],
)
def test_each_line_wins(before: str, space: list[int]) -> None:
    """Eight lines; the last board is full as well, and a win all the same."""
    state = game.reducer(at(before), turn("X", space))
    assert (state["complete"], state["victor"], state["reason"]) == (True, X, "complete")


LINES = ["abc", "def", "ghi", "adg", "beh", "cfi", "aei", "ceg"]  # of the spaces a to i, row by row


@pytest.mark.parametrize("line", LINES)
def test_a_line_wins_with_whichever_of_its_spaces_comes_last(line: str) -> None:
    """Two of it do not, with a third mark elsewhere or with the other's."""
    for last in line:
        others = [space for space in line if space != last]
        marks = "".join("X" if space in others else "." for space in "abcdefghi")
        for space in "abcdefghi":
            number = "abcdefghi".index(space)
            if marks[number] == ".":
                rows = f"{marks[:3]} {marks[3:6]} {marks[6:]}"
                assert game.reducer(at(rows), turn("X", [*divmod(number, 3)]))["complete"] is (space == last)
                assert not game.reducer(at(rows, O), turn("O", [*divmod(number, 3)], O))["complete"]


def test_a_complete_match_takes_no_turn() -> None:
    """Not even of the bot that would be next, in an empty space."""
    state = game.reducer(at("XX. OO. ..."), turn("X", [0, 2]))
    assert not game.validate(state, turn("O", [1, 2], O))


def test_the_second_player_wins_too() -> None:
    """With noughts."""
    state = game.reducer(at("OO. XX. X..", O), turn("O", [0, 2], O))
    assert (state["complete"], state["victor"], state["nextPlayer"]) == (True, O, X)


def test_a_full_board_is_a_draw() -> None:
    """`victor` is there, and null."""
    state = game.reducer(at("XOX XOO OX."), turn("X", [2, 2]))
    assert (state["complete"], state["victor"], state["reason"]) == (True, None, "complete")


def test_before_the_end_there_is_neither_victor_nor_reason() -> None:
    """The turn passes to the other bot, also where a row, or all but one space, is full."""
    assert game.reducer(at("... ... ..."), turn("X", [1, 1])) == at("... .X. ...", O)
    assert game.reducer(at("XO. ... ..."), turn("X", [0, 2])) == at("XOX ... ...", O)
    assert game.reducer(at("XOX XO. OX.", O), turn("O", [1, 2], O)) == at("XOX XOO OX.", X)


def test_a_board_as_text() -> None:
    """For logs."""
    assert game.render(at("XO. .X. ...")) == "X O .\n. X .\n. . ."


def test_a_board_is_shown_row_by_row() -> None:
    """A dot where it is empty."""
    assert game.render(at("X.O .X. O..")) == "X . O\n. X .\nO . ."
