"""Connect Four: marks fall to the lowest empty space of their column; four in a line win; a full board is a draw."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
Turn = dict[str, Any]

GAME = {
    "name": "connectfour",
    "title": "Connect Four",
    "players": (2, 2),
    "exampleTurn": {"column": 3},
}

ROWS, COLUMNS, FOUR = 6, 7, 4
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """An empty board, rows from the top; the first player is X and moves first. The seed has no effect."""
    return {
        "players": players,
        "nextPlayer": players[0],
        "complete": False,
        "board": [[""] * COLUMNS for _ in range(ROWS)],
        "marks": {"X": players[0], "O": players[1]},
    }


def validate(state: State, turn: Turn) -> bool:
    """`column` must be an integer from 0 to 6, with its topmost space empty."""
    if state["complete"] or turn.get("player") != state["nextPlayer"]:
        return False
    return _is_column(turn) and not state["board"][0][turn["column"]]


def explain(state: State, turn: Turn) -> str:
    """Returns why the mover's turn is not valid."""
    if not _is_column(turn):
        return f'"column" must be an integer from 0 to {COLUMNS - 1}.'
    return f"Column {turn['column']} is full."


def reducer(state: State, turn: Turn) -> State:
    """Drops the mover's mark. The other bot is next, even after the last turn."""
    first, second = state["players"]
    mark, other = ("X", second) if turn["player"] == first else ("O", first)
    column = turn["column"]
    board = [*state["board"]]
    row = max(r for r in range(ROWS) if not board[r][column])
    board[row] = [*board[row]]
    board[row][column] = mark
    after = {**state, "board": board, "nextPlayer": other}
    if _wins(board, row, column):
        after |= {"complete": True, "victor": turn["player"], "reason": "complete"}
    elif all(board[0]):
        after |= {"complete": True, "victor": None, "reason": "complete"}
    return after


def render(state: State) -> str:
    """The six rows, topmost first, above the columns' numbers; a dot is an empty space."""
    rows = [" ".join(mark or "." for mark in row) for row in state["board"]]
    return "\n".join([*rows, " ".join(map(str, range(COLUMNS)))])


def _is_column(turn: Turn) -> bool:
    # type(), not isinstance(): neither True nor 1.0 is an index
    column = turn.get("column")
    return type(column) is int and 0 <= column < COLUMNS


def _wins(board: list[list[str]], row: int, column: int) -> bool:
    """Returns whether the mark at that place is one of four in a line."""
    for down, right in DIRECTIONS:
        run = _run(board, row, column, down, right) + _run(board, row, column, -down, -right) - 1
        if run >= FOUR:
            return True
    return False


def _run(board: list[list[str]], row: int, column: int, down: int, right: int) -> int:
    """Counts the equal marks from that place on in one direction, including itself."""
    mark, length = board[row][column], 0
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row][column] == mark:
        length += 1
        row, column = row + down, column + right
    return length
