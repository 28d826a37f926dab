"""The turns that a bot may make in each game that the samples play, derived from the state."""

from __future__ import annotations

from collections.abc import Callable

from battlebot.client.bot import State, Turn


def possible_turns(game: str, state: State, bot_id: str) -> list[Turn]:
    """All valid turns of the bot on turn, in a fixed order. Raises LookupError for a game that is not in GAMES."""
    if game not in GAMES:
        raise LookupError(f"The sample bots do not play {game}, only {', '.join(sorted(GAMES))}.")
    return GAMES[game](state, bot_id)


def own_mark(state: State, bot_id: str) -> str:
    """The mark with which the bot plays, "X" or "O"."""
    marks: dict[str, str] = state["marks"]
    return next(mark for mark, player in marks.items() if player == bot_id)


def _noughtsandcrosses(state: State, bot_id: str) -> list[Turn]:
    mark = own_mark(state, bot_id)
    board: list[list[str]] = state["board"]
    return [
        {"mark": mark, "space": [row, column]}
        for row, marks in enumerate(board)
        for column, taken in enumerate(marks)
        if not taken
    ]


def _connectfour(state: State, bot_id: str) -> list[Turn]:
    top: list[str] = state["board"][0]
    return [{"column": column} for column, taken in enumerate(top) if not taken]


def _numberwang(state: State, bot_id: str) -> list[Turn]:
    # any number is a valid turn; these end a match soon, even if both bots always choose the first
    return [{"n": n} for n in range(-9, 10)]


def _gomoku(state: State, bot_id: str) -> list[Turn]:
    board: list[list[str]] = state["board"]
    return [{"x": x, "y": y} for y, row in enumerate(board) for x, taken in enumerate(row) if not taken]


GAMES: dict[str, Callable[[State, str], list[Turn]]] = {
    "connectfour": _connectfour,
    "gomoku": _gomoku,
    "noughtsandcrosses": _noughtsandcrosses,
    "numberwang": _numberwang,
}
