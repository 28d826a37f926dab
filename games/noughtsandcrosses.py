"""Noughts and crosses: three of one's own marks in a row, a column or a diagonal win; a full board is a draw."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
Turn = dict[str, Any]

GAME = {
    "name": "noughtsandcrosses",
    "title": "Noughts and Crosses",
    "players": (2, 2),
    "exampleTurn": {"mark": "X", "space": [1, 1]},
}

SIZE = 3


def _lines_through(row: int, column: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    steps = range(SIZE)
    lines = [tuple((row, i) for i in steps), tuple((i, column) for i in steps)]
    if row == column:
        lines.append(tuple((i, i) for i in steps))
    if row + column == SIZE - 1:
        lines.append(tuple((i, SIZE - 1 - i) for i in steps))
    return tuple(lines)


# only a line through the space just marked can have been completed
LINES = {(row, column): _lines_through(row, column) for row in range(SIZE) for column in range(SIZE)}


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """An empty board; the first player is X and moves first. The seed has no effect."""
    return {
        "players": players,
        "nextPlayer": players[0],
        "complete": False,
        "board": [[""] * SIZE for _ in range(SIZE)],
        "marks": {"X": players[0], "O": players[1]},
    }


def validate(state: State, turn: Turn) -> bool:
    """`mark` must be the mover's own; `space` must be [row, column], two integers from 0 to 2, and empty."""
    if state["complete"] or turn.get("player") != state["nextPlayer"]:
        return False
    return _is_own_mark(state, turn) and _is_space(turn.get("space")) and _is_empty(state, turn["space"])


def explain(state: State, turn: Turn) -> str:
    """Returns why the mover's turn is not valid."""
    if not _is_own_mark(state, turn):
        own = "X" if state["marks"]["X"] == turn["player"] else "O"
        return f'"mark" must be your own mark, "{own}".'
    if not _is_space(turn.get("space")):
        return '"space" must be [row, column], two integers from 0 to 2.'
    return "That space is taken."


def reducer(state: State, turn: Turn) -> State:
    """Places the mark. The other bot is next, even after the last turn, as in the original's messages."""
    mark, (row, column) = turn["mark"], turn["space"]
    first, second = state["players"]
    board = [*state["board"]]
    board[row] = [*board[row]]
    board[row][column] = mark
    after = {**state, "board": board, "nextPlayer": second if turn["player"] == first else first}
    if any(all(board[r][c] == mark for r, c in line) for line in LINES[row, column]):
        after |= {"complete": True, "victor": turn["player"], "reason": "complete"}
    elif all(all(spaces) for spaces in board):
        after |= {"complete": True, "victor": None, "reason": "complete"}
    return after


def render(state: State) -> str:
    """Three rows of three; a dot is an empty space."""
    return "\n".join(" ".join(mark or "." for mark in row) for row in state["board"])


def _is_own_mark(state: State, turn: Turn) -> bool:
    mark = turn.get("mark")
    return isinstance(mark, str) and state["marks"].get(mark) == turn["player"]


def _is_space(space: Any) -> bool:
    # type(), not isinstance(): neither True nor 1.0 is an index
    return isinstance(space, list) and len(space) == 2 and all(type(i) is int and 0 <= i < SIZE for i in space)


def _is_empty(state: State, space: list[int]) -> bool:
    row, column = space
    return not state["board"][row][column]
