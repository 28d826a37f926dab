"""A state as something to look at: a grid where its board is one, else the game's own text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
import structlog

from battlebot.rules.contract import Game

LARGEST = 64  # rows or columns; what is larger is shown as text
LONGEST_CELL = 12
OURS = ("_id", "game", "contest", "startTime", "turns", "match")  # what the archive adds to a final state

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Space:
    """One space of a grid; `seat` is the index of the player whose mark it bears, where `marks` says so.

    `fresh`: the last turn has changed it, where that is known.
    """

    text: str
    seat: int | None = None
    fresh: bool = False


def final_state(document: Mapping[str, Any]) -> dict[str, Any]:
    """The final state of a stored match, `complete` and `nextPlayer` included again."""
    state = {name: value for name, value in document.items() if name not in OURS}
    return {"nextPlayer": None, **state, "complete": True}


def grid(state: Mapping[str, Any]) -> list[list[Space]] | None:
    """The state's `board` as rows of spaces, if it is a list of lists of equal length with plain values in them."""
    board = state.get("board")
    if not isinstance(board, list) or not 1 <= len(board) <= LARGEST:
        return None
    if not all(isinstance(row, list) and 1 <= len(row) <= LARGEST and len(row) == len(board[0]) for row in board):
        return None
    if any(isinstance(value, dict | list) for row in board for value in row):
        return None
    seats = _seats(state)
    return [[_space(value, seats) for value in row] for row in board]


def with_fresh(spaces: list[list[Space]], before: list[list[Space]] | None) -> list[list[Space]]:
    """The grid with those spaces marked that were another in the grid before, if that was of the same size."""
    if before is None or (len(before), len(before[0])) != (len(spaces), len(spaces[0])):
        return spaces
    pairs = [zip(row, other, strict=True) for row, other in zip(spaces, before, strict=True)]
    return [[replace(space, fresh=space != other) for space, other in row] for row in pairs]


def text(game: Game, state: dict[str, Any]) -> str:
    """The state as the game writes it; as JSON where the game fails at that."""
    try:
        return game.render(state)
    except Exception as error:
        log.warning("a game cannot render a state", game=game.name, exc_info=error)
        return orjson.dumps(state, default=str, option=orjson.OPT_INDENT_2).decode()


def _space(value: Any, seats: Mapping[str, int]) -> Space:
    if value is None or value is False:
        return Space("")
    shown = str(value)
    return Space(shown if len(shown) <= LONGEST_CELL else shown[:LONGEST_CELL] + "…", seats.get(shown))


def _seats(state: Mapping[str, Any]) -> dict[str, int]:
    marks, players = state.get("marks"), state.get("players") or []
    if not isinstance(marks, dict):
        return {}
    return {mark: players.index(player) for mark, player in marks.items() if player in players}
