"""The board, its premium squares, the tiles and their points. Cells are (row, column) from 0; positions are texts.

A board is a list of 15 texts: a capital is a tile, a small letter a blank that stands for it, a dot an empty square.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Board = list[str]
Cell = tuple[int, int]

SIZE = 15
CENTRE: Cell = (7, 7)
RACK = 7
BONUS = 50
BLANK = "?"
EMPTY = "."

# one quarter of the board, with the middle row and column; the rest mirrors it.
# T and D: the word counts three times and twice; t and d: the letter does
_QUARTER = (
    "T..d...T",
    ".D...t..",
    "..D...d.",
    "d..D...d",
    "....D...",
    ".t...t..",
    "..d...d.",
    "T..d...D",
)
_HALF = [row + row[-2::-1] for row in _QUARTER]
LAYOUT = tuple(_HALF + _HALF[-2::-1])
LETTER_TIMES = {"t": 3, "d": 2}
WORD_TIMES = {"T": 3, "D": 2}

# points -> letters with so many points, each with its number of tiles
_TILES = {
    0: {"?": 2},
    1: {"A": 9, "E": 12, "I": 9, "L": 4, "N": 6, "O": 8, "R": 6, "S": 4, "T": 6, "U": 4},
    2: {"D": 4, "G": 3},
    3: {"B": 2, "C": 2, "M": 2, "P": 2},
    4: {"F": 2, "H": 2, "V": 2, "W": 2, "Y": 2},
    5: {"K": 1},
    8: {"J": 1, "X": 1},
    10: {"Q": 1, "Z": 1},
}
POINTS = {letter: points for points, letters in _TILES.items() for letter in letters}
COUNTS = {letter: count for letters in _TILES.values() for letter, count in letters.items()}
ALL_TILES = "".join(letter * count for letter, count in sorted(COUNTS.items()))

_ACROSS = re.compile(r"([0-9]{1,2})([A-Oa-o])")
_DOWN = re.compile(r"([A-Oa-o])([0-9]{1,2})")


def points(tiles: str) -> int:
    """Returns the points of tiles of a rack or a board; blanks, even those that stand for a letter, have none."""
    return sum(POINTS.get(tile, 0) for tile in tiles)


def as_rack(tiles: str) -> str:
    """Returns tiles of a board as they lie on a rack: a blank is `?` again."""
    return "".join(BLANK if tile.islower() else tile for tile in tiles)


def without(rack: str, tiles: str) -> str | None:
    """Returns the rack without those tiles; None if it does not hold them all."""
    for tile in tiles:
        if tile not in rack:
            return None
        rack = rack.replace(tile, "", 1)
    return rack


def parse_position(text: str) -> tuple[Cell, bool] | None:
    """Returns the cell and whether it is down: `8D` (row first) is across, `D8` down. None if it is no position."""
    across, down = _ACROSS.fullmatch(text), _DOWN.fullmatch(text)
    found = across or down
    if found is None:
        return None
    number, letter = found.groups() if across else reversed(found.groups())
    row, column = int(number) - 1, ord(letter.upper()) - ord("A")
    return ((row, column), down is not None) if 0 <= row < SIZE else None


def position(cell: Cell, down: bool) -> str:
    """Returns the text of a position, as `parse_position` reads it."""
    row, column = str(cell[0] + 1), chr(ord("A") + cell[1])
    return column + row if down else row + column


def at(board: Board, cell: Cell) -> str:
    """Returns what lies in a cell; a dot also beyond the board's edge."""
    row, column = cell
    return board[row][column] if 0 <= row < SIZE and 0 <= column < SIZE else EMPTY


def neighbours(cell: Cell) -> Iterator[Cell]:
    """Yields the four cells beside a cell, including those beyond the edge."""
    row, column = cell
    yield from ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))


def with_tiles(board: Board, tiles: dict[Cell, str]) -> Board:
    """Returns a new board with those tiles laid; a dot removes one."""
    rows = list(board)
    for (row, column), tile in tiles.items():
        rows[row] = rows[row][:column] + tile + rows[row][column + 1 :]
    return rows
