"""Two games as described on the protocol page: which turns to play, and the state after each turn."""

from __future__ import annotations

import random
from typing import Any, Protocol

State = dict[str, Any]
Turn = dict[str, Any]

LINES = [
    *([(row, column) for column in range(3)] for row in range(3)),
    *([(row, column) for row in range(3)] for column in range(3)),
    [(0, 0), (1, 1), (2, 2)],
    [(0, 2), (1, 1), (2, 0)],
]


class Rules(Protocol):
    """A game as the load generator plays it. `ending`: matches should end soon."""

    ending: bool

    def first(self, players: list[str]) -> State:
        """The state before the first turn."""

    def choose(self, state: State) -> Turn:
        """A valid turn for the next player."""

    def after(self, state: State, turn: Turn) -> State:
        """The required state after a valid turn."""


class Numberwang:
    """Plays zeros until `ending`; then one turn by which the first player wins."""

    def __init__(self) -> None:
        self.ending = False

    def first(self, players: list[str]) -> State:
        return {"players": players, "nextPlayer": players[0], "complete": False, "board": {"n": 0}}

    def choose(self, state: State) -> Turn:
        return {"n": 10 if self.ending else 0}

    def after(self, state: State, turn: Turn) -> State:
        first, second = state["players"]
        n = state["board"]["n"] + turn["n"]
        after = {**state, "board": {"n": n}, "nextPlayer": second if state["nextPlayer"] == first else first}
        if n >= 10 or n <= -10:
            after |= {"complete": True, "victor": first if n > 0 else second, "reason": "complete"}
        return after


class NoughtsAndCrosses:
    """Plays a random empty space, from a seed."""

    def __init__(self, seed: int = 1) -> None:
        self.ending = False
        self._random = random.Random(seed)

    def first(self, players: list[str]) -> State:
        board = [["", "", ""], ["", "", ""], ["", "", ""]]
        marks = {"X": players[0], "O": players[1]}
        return {"players": players, "nextPlayer": players[0], "complete": False, "board": board, "marks": marks}

    def choose(self, state: State) -> Turn:
        board = state["board"]
        spaces = [[row, column] for row in range(3) for column in range(3) if not board[row][column]]
        mark = "X" if state["marks"]["X"] == state["nextPlayer"] else "O"
        return {"mark": mark, "space": self._random.choice(spaces)}

    def after(self, state: State, turn: Turn) -> State:
        (row, column), mark, mover = turn["space"], turn["mark"], state["nextPlayer"]
        board = [list(line) for line in state["board"]]
        board[row][column] = mark
        first, second = state["players"]
        after = {**state, "board": board, "nextPlayer": second if mover == first else first}
        won = any(all(board[r][c] == mark for r, c in line) for line in LINES)
        if won or all(space for line in board for space in line):
            after |= {"complete": True, "victor": mover if won else None, "reason": "complete"}
        return after


def rules_of(game: str) -> Rules:
    """The rules of a game by its name. Raises KeyError."""
    rules: Rules = {"numberwang": Numberwang, "noughtsandcrosses": NoughtsAndCrosses}[game]()
    return rules
