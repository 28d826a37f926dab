"""Gomoku: marks are placed on a square board; five or more of one's own in a line win; a full board is a draw."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
Turn = dict[str, Any]

LEAST_SIZE, USUAL_SIZE, LARGEST_SIZE = 5, 15, 25
LEAST_LENGTH, USUAL_LENGTH = 3, 5

GAME = {
    "name": "gomoku",
    "title": "Gomoku",
    "players": (2, 2),
    "turnTimeoutMs": 5000,
    "leewayMs": 500,
    "options": {
        "size": {"default": USUAL_SIZE, "low": LEAST_SIZE, "high": LARGEST_SIZE, "doc": "Rows and columns."},
        "winLength": {
            "default": USUAL_LENGTH,
            "low": LEAST_LENGTH,
            "high": LARGEST_SIZE,
            "doc": "Marks in a line that win, at most the size.",
        },
    },
    "exampleTurn": {"x": 7, "y": 7},
}

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def check_options(options: dict[str, Any]) -> str | None:
    """The line that wins must fit on the board."""
    if options["winLength"] > options["size"]:
        return f"winLength must be at most the size, {options['size']}."
    return None


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """An empty board; the first player is X and moves first. The seed has no effect.

    `moves` has every move as [x, y], in order. `board` says the same in rows, `board[y][x]`, so that nobody has to go
    through the moves to know whether a space is free.
    """
    size = options["size"]
    return {
        "players": players,
        "nextPlayer": players[0],
        "complete": False,
        "moves": [],
        "size": size,
        "winLength": options["winLength"],
        "board": [[""] * size for _ in range(size)],
        "marks": {"X": players[0], "O": players[1]},
    }


def validate(state: State, turn: Turn) -> bool:
    """`x` and `y` must be integers from 0 to size - 1, and the space empty."""
    if state["complete"] or turn.get("player") != state["nextPlayer"]:
        return False
    return _is_on_board(state, turn) and not state["board"][turn["y"]][turn["x"]]


def explain(state: State, turn: Turn) -> str:
    """Returns why the mover's turn is not valid."""
    if not _is_on_board(state, turn):
        return f'"x" and "y" must be integers from 0 to {state["size"] - 1}.'
    return f"The space [{turn['x']}, {turn['y']}] is taken."


def reducer(state: State, turn: Turn) -> State:
    """Places the mover's mark. The other bot is next, even after the last turn."""
    first, second = state["players"]
    mark, other = ("X", second) if turn["player"] == first else ("O", first)
    x, y = turn["x"], turn["y"]
    board = [*state["board"]]
    board[y] = [*board[y]]
    board[y][x] = mark
    after = {**state, "board": board, "moves": [*state["moves"], [x, y]], "nextPlayer": other}
    if _wins(board, x, y, state["winLength"]):
        after |= {"complete": True, "victor": turn["player"], "reason": "complete"}
    elif len(after["moves"]) == state["size"] ** 2:
        after |= {"complete": True, "victor": None, "reason": "complete"}
    return after


def render(state: State) -> str:
    """The rows from y = 0, each after its number, below the columns' numbers; a dot is an empty space."""
    head = "   " + " ".join(f"{x:>2}" for x in range(state["size"]))
    rows = [f"{y:>2} " + " ".join(f"{mark or '.':>2}" for mark in row) for y, row in enumerate(state["board"])]
    return "\n".join([head, *rows])


def _is_on_board(state: State, turn: Turn) -> bool:
    # type(), not isinstance(): neither True nor 1.0 is an index
    return all(type(turn.get(axis)) is int and 0 <= turn[axis] < state["size"] for axis in ("x", "y"))


def _wins(board: list[list[str]], x: int, y: int, length: int) -> bool:
    """Returns whether the mark at that space is one of `length` or more in a line."""
    for right, down in DIRECTIONS:
        run = 1 + _run(board, x, y, right, down, length) + _run(board, x, y, -right, -down, length)
        if run >= length:
            return True
    return False


def _run(board: list[list[str]], x: int, y: int, right: int, down: int, length: int) -> int:
    """Counts the equal marks that follow that space in one direction, up to `length` - 1, which are enough to know."""
    mark, size = board[y][x], len(board)
    for steps in range(1, length):
        column, row = x + steps * right, y + steps * down
        if not (0 <= column < size and 0 <= row < size) or board[row][column] != mark:
            return steps - 1
    return length - 1
