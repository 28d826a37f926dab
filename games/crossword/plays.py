"""A play, tiles laid in a line: whether it is legal, the words it forms, its score. Not whose turn it is."""

from __future__ import annotations

from dataclasses import dataclass

from games.crossword.board import (
    BONUS,
    CENTRE,
    EMPTY,
    LAYOUT,
    LETTER_TIMES,
    POINTS,
    RACK,
    SIZE,
    WORD_TIMES,
    Board,
    Cell,
    as_rack,
    at,
    neighbours,
    parse_position,
    without,
)


class IllegalPlay(ValueError):
    """A play that the rules do not allow; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Play:
    """A legal play: the new tiles by cell, the words in capitals (the main one first) and the score of all of them."""

    start: Cell
    down: bool
    tiles: dict[Cell, str]
    words: tuple[str, ...]
    score: int

    @property
    def is_bingo(self) -> bool:
        """Whether all seven tiles of a full rack were laid."""
        return len(self.tiles) == RACK


def read_play(board: Board, rack: str, position: str, played_tiles: str) -> Play:
    """Returns the play of a turn: a letter for each tile, a dot for one already on the board. Raises IllegalPlay."""
    where = parse_position(position)
    if where is None:
        raise IllegalPlay('The position must be like "8D" (across) or "D8" (down), rows 1 to 15, columns A to O.')
    start, down = where
    tiles = _laid(board, start, down, played_tiles)
    if without(rack, as_rack("".join(tiles.values()))) is None:
        raise IllegalPlay("The rack does not hold these tiles.")
    _check_place(board, start, down, played_tiles, tiles)
    return score_play(board, start, down, tiles)


def score_play(board: Board, start: Cell, down: bool, tiles: dict[Cell, str]) -> Play:
    """Returns the words and the score of new tiles in one line whose main word begins at `start`. Checks nothing."""
    words: list[str] = []
    total = BONUS if len(tiles) == RACK else 0
    for word, score in [_word(board, start, down, tiles), *(_cross(board, cell, down, tiles) for cell in tiles)]:
        if len(word) > 1:
            words.append(word.upper())
            total += score
    return Play(start, down, tiles, tuple(words), total)


def _laid(board: Board, start: Cell, down: bool, played_tiles: str) -> dict[Cell, str]:
    if not played_tiles or len(played_tiles) > SIZE:
        raise IllegalPlay("A play has 1 to 15 tiles, with those that it runs through.")
    tiles = {}
    for cell, tile in zip(_line(start, down, len(played_tiles)), played_tiles, strict=True):
        if cell[0] >= SIZE or cell[1] >= SIZE:
            raise IllegalPlay("The play leaves the board.")
        if tile == EMPTY:
            if at(board, cell) == EMPTY:
                raise IllegalPlay("There is no tile on the board where the play runs through one.")
        elif not (tile.isascii() and tile.isalpha()):
            raise IllegalPlay("Tiles are A to Z, small letters are blanks, a dot is a tile on the board.")
        elif at(board, cell) != EMPTY:
            raise IllegalPlay("A square of the play is taken: write a dot for a tile that lies on the board.")
        else:
            tiles[cell] = tile
    if not tiles:
        raise IllegalPlay("A play lays at least one tile.")
    return tiles


def _check_place(board: Board, start: Cell, down: bool, played_tiles: str, tiles: dict[Cell, str]) -> None:
    before, after = _line(start, down, 1, first=-1)[0], _line(start, down, 1, first=len(played_tiles))[0]
    if at(board, before) != EMPTY or at(board, after) != EMPTY:
        raise IllegalPlay("The position and the tiles must be those of the whole word.")
    if all(row == EMPTY * SIZE for row in board):
        if CENTRE not in tiles or len(tiles) < 2:
            raise IllegalPlay("The first play covers the centre, 8H, with two tiles or more.")
    elif not any(at(board, beside) != EMPTY for cell in tiles for beside in neighbours(cell)):
        raise IllegalPlay("The play must touch a tile on the board.")


def _line(start: Cell, down: bool, count: int, first: int = 0) -> list[Cell]:
    row, column = start
    return [(row + n, column) if down else (row, column + n) for n in range(first, first + count)]


def _cross(board: Board, cell: Cell, down: bool, tiles: dict[Cell, str]) -> tuple[str, int]:
    """Returns the word that one new tile forms across the play's line, and its score."""
    step = (0, -1) if down else (-1, 0)
    start = cell
    while at(board, (start[0] + step[0], start[1] + step[1])) != EMPTY:
        start = (start[0] + step[0], start[1] + step[1])
    return _word(board, start, not down, {cell: tiles[cell]})


def _word(board: Board, start: Cell, down: bool, tiles: dict[Cell, str]) -> tuple[str, int]:
    """Returns the word from `start` on and its score; premium squares count for new tiles only."""
    letters, total, times = [], 0, 1
    (row, column), cell = start, start
    while (tile := tiles.get(cell) or at(board, cell)) != EMPTY:
        count = POINTS.get(tile, 0)
        if cell in tiles:
            premium = LAYOUT[row][column]
            count *= LETTER_TIMES.get(premium, 1)
            times *= WORD_TIMES.get(premium, 1)
        letters.append(tile)
        total += count
        row, column = (row + 1, column) if down else (row, column + 1)
        cell = (row, column)
    return "".join(letters), total * times
