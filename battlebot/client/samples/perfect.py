"""Plays noughts and crosses perfectly: it searches all possible continuations, and never loses."""

from __future__ import annotations

import random
from functools import cache

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import arguments, main
from battlebot.client.samples.turns import own_mark

Board = tuple[str, ...]  # nine spaces, row by row

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Perfect(Bot):
    """Plays noughtsandcrosses."""

    def choose(self, state: State) -> Turn:
        """One of the best turns: win as soon as possible, else lose as late as possible."""
        board = tuple(mark for row in state["board"] for mark in row)
        mark = own_mark(state, self.bot_id)
        worth = {space: -value(placed(board, space, mark), other(mark)) for space in free(board)}
        best = random.choice([space for space in worth if worth[space] == max(worth.values())])
        return {"mark": mark, "space": list(divmod(best, 3))}


@cache
def value(board: Board, mark: str) -> int:
    """The board's value to `mark`, who is to move: above 0 a win (higher if sooner), 0 a draw, below 0 a loss."""
    if any(board[a] == board[b] == board[c] == other(mark) for a, b, c in LINES):
        return -1 - len(free(board))
    return max((-value(placed(board, space, mark), other(mark)) for space in free(board)), default=0)


def free(board: Board) -> list[int]:
    """The empty spaces, 0 to 8."""
    return [space for space, taken in enumerate(board) if not taken]


def placed(board: Board, space: int, mark: str) -> Board:
    """The board with one more mark."""
    return (*board[:space], mark, *board[space + 1 :])


def other(mark: str) -> str:
    """The opponent's mark."""
    return "O" if mark == "X" else "X"


if __name__ == "__main__":
    main(Perfect, arguments("perfect", games=["noughtsandcrosses"]))
