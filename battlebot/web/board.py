"""A state in a form to show: a grid if its board is one, else the game's own text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
import structlog

from battlebot.rules.contract import RAISED_OUTSIDE, RESERVED_OF_A_STATE, Game

LARGEST = 64  # rows or columns; a larger board is shown as text
LONGEST_CELL = 12

log = structlog.get_logger()


@dataclass(frozen=True)
class Space:
    """One space of a grid; `seat` is the index of the player whose mark it has, if `marks` says so.

    `kind` is the game's name for it; `fresh`: the last turn changed it, as far as that is known.
    """

    text: str
    seat: int | None = None
    fresh: bool = False
    kind: str = ""

    @property
    def classes(self) -> str:
        """The CSS classes of the space."""
        seat = "" if self.seat is None else f"seat-{self.seat}"
        return " ".join(filter(None, (seat, self.kind and f"kind-{self.kind}", "fresh" if self.fresh else "")))


@dataclass(frozen=True)
class SideTable:
    """A table beside the board; `numbers` are the indexes of its numeric columns."""

    title: str
    head: tuple[str, ...]
    numbers: frozenset[int]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """What is shown of a state: its spaces, or else its text; the names of columns and rows; tables."""

    spaces: list[list[Space]] | None
    text: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    tables: tuple[SideTable, ...] = ()


def picture(game: Game, state: dict[str, Any], before: dict[str, Any] | None = None) -> Picture:
    """Returns what is shown of a state; spaces that differ from those in the state before are fresh."""
    made = _of_game(game, state) or _plain(game, state)
    if made.spaces is None or before is None:
        return made
    earlier = _of_game(game, before) or _plain(game, before)
    return replace(made, spaces=with_fresh(made.spaces, earlier.spaces))


def _plain(game: Game, state: dict[str, Any]) -> Picture:
    spaces = grid(state)
    if spaces is None:
        return Picture(None, text(game, state))
    columns, rows = (tuple(map(str, range(count))) for count in (len(spaces[0]), len(spaces)))
    return Picture(spaces, None, columns, rows)


def _of_game(game: Game, state: dict[str, Any]) -> Picture | None:
    """Returns the picture that the game's `show` describes; None if it has none or fails."""
    try:
        shown = game.show(state)
        if shown is None:
            return None
        spaces = [[Space(str(one["text"]), kind=_slug(one["kind"])) for one in row] for row in shown["board"]]
        tables = tuple(
            SideTable(
                str(table["title"]),
                tuple(map(str, table["head"])),
                frozenset(table["numbers"]),
                tuple(tuple(map(str, row)) for row in table["rows"]),
            )
            for table in shown["tables"]
        )
        return Picture(spaces, None, tuple(map(str, shown["columns"])), tuple(map(str, shown["rows"])), tables)
    except RAISED_OUTSIDE as error:
        log.warning("game.not_shown", game=game.name, exc_info=error)
        return None


def _slug(kind: Any) -> str:
    return "".join(character for character in str(kind) if character.isascii() and character.isalnum())


def final_state(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the final state of a stored match, with `complete` and `nextPlayer` (None) put back."""
    state = {name: value for name, value in document.items() if name not in RESERVED_OF_A_STATE}
    return {"nextPlayer": None, **state, "complete": True}


def grid(state: Mapping[str, Any]) -> list[list[Space]] | None:
    """Returns the state's `board` as rows of spaces, if it is a list of equally long lists of plain values."""
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
    """Returns the grid with those spaces marked fresh that differ from the grid before, if both have the same shape."""
    if before is None or list(map(len, before)) != list(map(len, spaces)):
        return spaces
    pairs = [zip(row, other, strict=True) for row, other in zip(spaces, before, strict=True)]
    return [[replace(space, fresh=space != other) for space, other in row] for row in pairs]


def text(game: Game, state: dict[str, Any]) -> str:
    """Returns the state as the game renders it, or as JSON if the game fails to."""
    try:
        return game.render(state)
    except RAISED_OUTSIDE as error:
        log.warning("game.not_rendered", game=game.name, exc_info=error)
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
