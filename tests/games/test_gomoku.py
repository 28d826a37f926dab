"""Gomoku's own rules, as docs/games/gomoku.md has them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from battlebot.errors import BadMessage
from battlebot.rules.module import game_from_module
from games import gomoku as game

X, O = "first", "second"  # noqa: E741
GOMOKU = game_from_module(game)


class Counted(list[Any]):
    """A row that counts how often a space of it is looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        Counted.looks += 1
        return super().__getitem__(index)


def start(**options: int) -> dict[str, Any]:
    """An empty board."""
    return GOMOKU.initial_state([X, O], 1, options)


def at(rows: str, mover: str = X, **options: int) -> dict[str, Any]:
    """A state with these topmost rows, such as "XX.X ..O."; spaces that are not written are empty."""
    state = start(**options)
    for y, row in enumerate(rows.split()):
        for x, mark in enumerate(row):
            if mark != ".":
                state["board"][y][x] = mark
                state["moves"].append([x, y])
    return {**state, "nextPlayer": mover}


def place(state: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    """The state after the next player's turn."""
    turn = {"x": x, "y": y, "player": state["nextPlayer"]}
    assert game.validate(state, turn), game.explain(state, turn)
    return game.reducer(state, turn)


def test_the_first_state() -> None:
    """Fifteen by fifteen, five in a line, in the shape of the protocol page."""
    state = start()
    assert (state["size"], state["winLength"], state["moves"]) == (15, 5, [])
    assert state["board"] == [[""] * 15 for _ in range(15)]
    assert (state["players"], state["nextPlayer"], state["marks"]) == ([X, O], X, {"X": X, "O": O})


def test_moves_are_kept_in_their_order() -> None:
    """As [x, y], x the column; the board says the same."""
    state = place(place(start(), 3, 1), 0, 14)
    assert state["moves"] == [[3, 1], [0, 14]]
    assert (state["board"][1][3], state["board"][14][0]) == ("X", "O")
    assert state["nextPlayer"] == X


@pytest.mark.parametrize(
    "value", [None, True, False, -1, 15, 3.0, 0.5, "3", [3], {}, 10**400, float("nan")], ids=lambda v: repr(v)[:12]
)
@pytest.mark.parametrize("axis", ["x", "y"])
def test_what_is_no_coordinate_is_told_so(axis: str, value: Any) -> None:
    """An integer of 0 to 14, nothing else."""
    turn = {"x": 7, "y": 7, "player": X, axis: value}
    assert game.validate(start(), turn) is False
    assert "0 to 14" in game.explain(start(), turn)


def test_a_coordinate_may_not_be_missing() -> None:
    """Neither of them."""
    assert not game.validate(start(), {"x": 7, "player": X})
    assert not game.validate(start(), {"y": 7, "player": X})


def test_a_taken_space_is_taken() -> None:
    """Whoever took it; its neighbour is free."""
    state = place(start(), 4, 5)
    assert not game.validate(state, {"x": 4, "y": 5, "player": O})
    assert game.explain(state, {"x": 4, "y": 5, "player": O}) == "The space [4, 5] is taken."
    assert game.validate(state, {"x": 5, "y": 4, "player": O})


@pytest.mark.parametrize(
    ("rows", "x", "y"),
    [
        ("XXXX", 4, 0),
        (".XXXX", 0, 0),
        ("XX.XX", 2, 0),
        ("X X X X", 0, 4),
        ("X . X X X", 0, 1),
        ("X .X ..X ...X", 4, 4),
        ("....X ...X . .X X", 2, 2),
        (".....X ....X ...X ..X", 1, 4),
        ("XXXX.XXXX", 4, 0),
        ("...........XXXX", 10, 0),
        (". . . . . . . . . . ..............X ..............X ..............X ..............X", 14, 14),
    ],
)
def test_five_in_a_line_win(rows: str, x: int, y: int) -> None:
    """Row, column, both diagonals; at an end, in the middle, at the edges; also more than five."""
    state = place(at(rows), x, y)
    assert (state["complete"], state["victor"], state["reason"], state["nextPlayer"]) == (True, X, "complete", O)


@pytest.mark.parametrize(("rows", "x", "y"), [("XXX", 3, 0), ("XX.OXXX", 2, 0), ("XXX..X", 4, 0), ("OXXXO", 4, 4)])
def test_four_do_not_win(rows: str, x: int, y: int) -> None:
    """Nor do five with a gap, or with another's mark between."""
    assert not place(at(rows), x, y)["complete"]


def test_a_line_does_not_go_on_in_the_next_row() -> None:
    """The board has edges."""
    assert not place(at(".............XX XX"), 2, 1)["complete"]


def test_a_full_board_is_a_draw() -> None:
    """Twenty-five marks on the smallest board: `victor` is there, and null."""
    state = start(size=5)
    rows = ["XXOOX", "OOXXO", "XXOOX", "OOXXO", "XXOOX"]
    spaces = {mark: [[x, y] for y in range(5) for x in range(5) if rows[y][x] == mark] for mark in "XO"}
    for n in range(25):
        assert not state["complete"]
        state = place(state, *spaces["XO"[n % 2]].pop())
    assert (state["complete"], state["victor"], state["reason"]) == (True, None, "complete")


def test_options_change_the_board_and_the_line() -> None:
    """Three in a line on a board of five."""
    state = place(at("XX", size=5, winLength=3), 2, 0)
    assert (len(state["board"]), state["victor"]) == (5, X)


@pytest.mark.parametrize(
    "options", [{"size": 4}, {"size": 4, "winLength": 4}, {"size": 26}, {"winLength": 2}, {"size": 5, "winLength": 6}]
)
def test_options_that_make_no_game_are_refused(options: dict[str, int]) -> None:
    """Also a line that is longer than the board."""
    with pytest.raises(BadMessage):
        start(**options)


def _has_line(state: dict[str, Any], mark: str) -> bool:
    """The rule said in another way: every window of the length, looked through."""
    size, length, board = state["size"], state["winLength"], state["board"]
    return any(
        all(board[y + i * down][x + i * right] == mark for i in range(length))
        for y in range(size)
        for x in range(size)
        for right, down in ((1, 0), (0, 1), (1, 1), (-1, 1))
        if 0 <= x + (length - 1) * right < size and y + (length - 1) * down < size
    )


@pytest.mark.parametrize("options", [{}, {"size": 5, "winLength": 3}, {"size": 6, "winLength": 4}, {"size": 5}])
def test_the_winner_is_found_whenever_there_is_one(options: dict[str, int]) -> None:
    """Random matches against a look through the whole board after every turn."""
    for seed in range(25):
        random, state = Random(seed), start(**options)
        spaces = [(x, y) for x in range(state["size"]) for y in range(state["size"])]
        random.shuffle(spaces)
        while not state["complete"]:
            state = place(state, *spaces.pop())
            victor = next((state["marks"][mark] for mark in "XO" if _has_line(state, mark)), None)
            assert state.get("victor") == victor


def test_a_turn_looks_at_few_spaces_however_many_are_taken() -> None:
    """Validity and the line cost the same on an empty board and on a nearly full one."""
    looks = []
    for full in (False, True):
        state = start(size=25)
        if full:
            rows = [["XO"[(x // 2 + y) % 2] for x in range(25)] for y in range(25)]
            rows[12][12] = ""
            moves = [[x, y] for y in range(25) for x in range(25) if rows[y][x]]
            state = {**state, "board": rows, "moves": moves}
        state["board"] = [Counted(row) for row in state["board"]]
        Counted.looks = 0
        after = place(state, 12, 12)
        assert len(after["moves"]) in (1, 625)
        looks.append(Counted.looks)
    assert max(looks) <= 2 + 8 * state["winLength"]


def test_a_board_is_shown_with_its_coordinates() -> None:
    """Rows from y = 0, columns numbered."""
    lines = game.render(place(start(size=5), 1, 2)).splitlines()
    assert lines[0].split() == ["0", "1", "2", "3", "4"]
    assert lines[3].split() == ["2", ".", "X", ".", ".", "."]


def test_bots_are_told_less_time_than_they_have() -> None:
    """5.0 s are shown, 5.5 s granted, as in the original arena."""
    assert (GOMOKU.turn_timeout_ms, GOMOKU.leeway_ms) == (5000, 500)


def test_a_complete_match_takes_no_turn() -> None:
    """Not even of the bot that would be next, in a free space."""
    state = place(at("XXXX"), 4, 0)
    assert not game.validate(state, {"x": 9, "y": 9, "player": O})
