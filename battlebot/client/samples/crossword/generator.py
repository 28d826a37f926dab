"""All legal plays of a rack on a board, with their scores.

The algorithm of Appel and Jacobson (The World's Fastest Scrabble Program, CACM 31, 1988): each word covers at least one
anchor, an empty square beside a tile. It is found once, from its leftmost anchor: a part to the left of it is extended
to the right along the word graph. The letters that crossing words allow are computed beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from battlebot.client.samples.crossword.tables import (
    BLANK,
    BONUS,
    COLUMNS,
    EMPTY,
    LETTER_TIMES,
    LETTERS,
    POINTS,
    RACK,
    SIZE,
    WORD_TIMES,
    points,
)
from battlebot.client.samples.crossword.wordgraph import WordGraph

Board = list[str]  # 15 strings; a lower-case letter is a blank, a dot an empty square


class Play(NamedTuple):
    """A play: its score, the square where its word begins, its tiles (a dot stands for a tile already on the board)."""

    score: int
    row: int
    column: int
    down: bool
    tiles: str

    @property
    def position(self) -> str:
        """`8D` across, `D8` down."""
        row, column = str(self.row + 1), COLUMNS[self.column]
        return column + row if self.down else row + column

    @property
    def used(self) -> str:
        """The tiles it takes from the rack."""
        return "".join(BLANK if tile.islower() else tile for tile in self.tiles if tile != EMPTY)


def all_plays(graph: WordGraph, board: Board, rack: str, thrifty: bool = False) -> list[Play]:
    """Every legal play; a single tile that forms two words gives two plays, one per direction.

    `thrifty` leaves out plays that are rarely worthwhile but take most of the time: blanks for letters that are on the
    rack, and on an empty board the words downwards.
    """
    return [play for plays in plays_by_line(graph, board, rack, thrifty) for play in plays]


def plays_by_line(graph: WordGraph, board: Board, rack: str, thrifty: bool = False) -> Iterator[list[Play]]:
    """Like `all_plays`, but yields the plays of one row or column at a time, so that the caller can stop early."""
    columns = ["".join(column) for column in zip(*board, strict=True)]
    bare = all(row == EMPTY * SIZE for row in board)
    for down, lines, across in ((False, board, columns), (True, columns, board)):
        for number in range(SIZE):
            anchors = _anchors(lines, number)
            if bare and number == SIZE // 2 and not (down and thrifty):
                anchors = [SIZE // 2]
            if anchors:
                crossings = _crossings(graph, across, number, rack)
                line = _Line(graph, lines[number], crossings, number, rack, thrifty)
                yield [
                    Play(score, *((start, number) if down else (number, start)), down, tiles)
                    for score, start, tiles in line.plays(anchors)
                ]


def _anchors(lines: Board, number: int) -> list[int]:
    """The empty squares of a line with a tile beside them on any of the four sides."""
    line = lines[number]
    beside = [lines[other] for other in (number - 1, number + 1) if 0 <= other < SIZE]
    return [
        at
        for at in range(SIZE)
        if line[at] == EMPTY
        and (line[max(at - 1, 0) : at + 2].strip(EMPTY) or any(other[at] != EMPTY for other in beside))
    ]


def _crossings(graph: WordGraph, across: Board, number: int, rack: str) -> list[tuple[str, int] | None]:
    """For each square: the letters that its crossing word allows, and the points of its tiles; None without a word."""
    letters = LETTERS if BLANK in rack else "".join(sorted(set(rack)))
    found: list[tuple[str, int] | None] = []
    for line in across:
        before, after = line[:number], line[number + 1 :]
        head = before[before.rfind(EMPTY) + 1 :]
        tail = after[: after.find(EMPTY)] if EMPTY in after else after
        if not (head or tail):
            found.append(None)
            continue
        start = graph.walk(head.upper())
        allowed = ""
        if start is not None:
            for letter, node, _ in graph.arcs(start):
                end = graph.walk(tail.upper(), node) if letter in letters else None
                if end is not None and graph.ends_word(end):
                    allowed += letter
        found.append((allowed, points(head + tail)))
    return found


class _Line:
    """One row or column to be searched for words."""

    def __init__(
        self,
        graph: WordGraph,
        line: str,
        crossings: list[tuple[str, int] | None],
        number: int,
        rack: str,
        thrifty: bool,
    ) -> None:
        self.graph, self.line, self.crossings, self.thrifty = graph, line, crossings, thrifty
        self.letter_times, self.word_times = LETTER_TIMES[number], WORD_TIMES[number]
        self.held = {letter: rack.count(letter) for letter in LETTERS}
        self.blanks, self.size = rack.count(BLANK), len(rack)
        self.found: list[tuple[int, int, str]] = []

    def plays(self, anchors: list[int]) -> list[tuple[int, int, str]]:
        """(score, start, tiles) for each word that covers one of the anchors."""
        last = -1
        for anchor in anchors:
            if anchor > 0 and self.line[anchor - 1] != EMPTY:
                self._behind_tiles(anchor)
            else:
                self._left(anchor, anchor - last - 1, "", self.graph.root)
            last = anchor
        return self.found

    def _behind_tiles(self, anchor: int) -> None:
        start = self.line.rfind(EMPTY, 0, anchor) + 1
        tiles = self.line[start:anchor]
        node = self.graph.walk(tiles.upper())
        if node is not None:
            self._right(anchor, EMPTY * len(tiles), node, points(tiles), 1, 0, 0)

    def _left(self, anchor: int, limit: int, tiles: str, node: int) -> None:
        """Find all words with `tiles`, the path to `node`, directly before the anchor; then with longer parts."""
        total, times = 0, 1
        for at, tile in enumerate(tiles, anchor - len(tiles)):
            total += POINTS.get(tile, 0) * self.letter_times[at]
            times *= self.word_times[at]
        self._right(anchor, tiles, node, total, times, 0, len(tiles))
        if len(tiles) < min(limit, self.size - 1):
            held = self.held
            for letter, behind, _ in self.graph.arcs(node):
                count = held[letter]
                if count:
                    held[letter] = count - 1
                    self._left(anchor, limit, tiles + letter, behind)
                    held[letter] = count
                if self.blanks and not (count and self.thrifty):
                    self.blanks -= 1
                    self._left(anchor, limit, tiles + letter.lower(), behind)
                    self.blanks += 1

    def _right(self, at: int, tiles: str, node: int, total: int, times: int, crossing: int, used: int) -> None:
        """Find all words that continue from the node with a tile at `at`, which is empty.

        So far the word counts `total`, times `times`, plus `crossing` for the crossing words.
        """
        held, crossed = self.held, self.crossings[at]
        letter_times, word_times = self.letter_times[at], self.word_times[at]
        for letter, behind, ends in self.graph.arcs(node):
            if crossed is not None and letter not in crossed[0]:
                continue
            count = held[letter]
            if count:
                worth = POINTS[letter] * letter_times
                more = 0 if crossed is None else (crossed[1] + worth) * word_times
                held[letter] = count - 1
                self._laid(
                    at, tiles + letter, behind, ends, total + worth, times * word_times, crossing + more, used + 1
                )
                held[letter] = count
            if self.blanks and not (count and self.thrifty):
                more = 0 if crossed is None else crossed[1] * word_times
                self.blanks -= 1
                self._laid(
                    at, tiles + letter.lower(), behind, ends, total, times * word_times, crossing + more, used + 1
                )
                self.blanks += 1

    def _laid(
        self, at: int, tiles: str, node: int, ends: bool, total: int, times: int, crossing: int, used: int
    ) -> None:
        """Extend the part by the tile at `at` and the tiles behind it; record it if it is a word; then continue."""
        at += 1
        line = self.line
        while at < SIZE and (tile := line[at]) != EMPTY:
            behind = self.graph.follow(node, tile.upper())
            if behind is None:
                return
            node, ends = behind, self.graph.ends_word(behind)
            total += POINTS.get(tile, 0)
            tiles += EMPTY
            at += 1
        if ends and len(tiles) > 1:
            score = total * times + crossing + (BONUS if used == RACK else 0)
            self.found.append((score, at - len(tiles), tiles))
        if at < SIZE and used < self.size:
            self._right(at, tiles, node, total, times, crossing, used)
