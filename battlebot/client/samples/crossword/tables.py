"""The board's premium squares and the tiles, which every bot needs."""

from __future__ import annotations

SIZE = 15
RACK = 7
BONUS = 50
EMPTY = "."
BLANK = "?"
COLUMNS = "ABCDEFGHIJKLMNO"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# = and - triple and double the word, " and ' the letter
PREMIUMS = (
    "=  '   =   '  =",
    ' -   "   "   - ',
    "  -   ' '   -  ",
    "'  -   '   -  '",
    "    -     -    ",
    ' "   "   "   " ',
    "  '   ' '   '  ",
    "=  '   -   '  =",
    "  '   ' '   '  ",
    ' "   "   "   " ',
    "    -     -    ",
    "'  -   '   -  '",
    "  -   ' '   -  ",
    ' -   "   "   - ',
    "=  '   =   '  =",
)
LETTER_TIMES = [[{'"': 3, "'": 2}.get(square, 1) for square in row] for row in PREMIUMS]
WORD_TIMES = [[{"=": 3, "-": 2}.get(square, 1) for square in row] for row in PREMIUMS]

_POINTS = (1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10)
_COUNTS = (9, 2, 2, 4, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1)
POINTS = dict(zip(LETTERS, _POINTS, strict=True))
COUNTS = {**dict(zip(LETTERS, _COUNTS, strict=True)), BLANK: 2}
ALL_TILES = sum(COUNTS.values())


def points(tiles: str) -> int:
    """The sum of the tiles' points; a blank counts nothing, even if it stands for a letter."""
    return sum(POINTS.get(tile, 0) for tile in tiles)
