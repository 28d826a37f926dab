"""A word list as a graph to walk letter by letter, read from the file of a `dawg.DAWG`."""

from __future__ import annotations

import sys
from array import array
from functools import cache
from pathlib import Path

from battlebot.client.samples.crossword.tables import LETTERS

# the server's word lists: data outside this package
LEXICA = Path(__file__).resolve().parents[4] / "games" / "crossword" / "lexica"

Arc = tuple[str, int, bool]  # a letter, the node behind it, whether a word ends there

_LEAF = 1 << 8
_LABEL = (1 << 31) | 0xFF


class WordGraph:
    """The words of a list. A node is a number; `root` is the node before the first letter.

    The file is a double array as written by dawgdic: a unit holds the letter that leads to it, whether a word ends
    there, and the offset of its successors.
    """

    root = 0

    def __init__(self, units: array[int]) -> None:
        self._units = units
        self._arcs: dict[int, list[Arc]] = {}

    @classmethod
    def read(cls, path: Path) -> WordGraph:
        """Read the graph from a file. Raises OSError, or ValueError for a file of another kind."""
        data = path.read_bytes()
        count = int.from_bytes(data[:4], "little")
        if len(data) != 4 + 4 * count or not count:
            raise ValueError(f"{path} is no word graph.")
        units = array("I", data[4:])
        if sys.byteorder == "big":
            units.byteswap()
        return cls(units)

    def follow(self, node: int, letter: str) -> int | None:
        """The node behind a letter; None if no word continues with it."""
        unit, label = self._units[node], ord(letter)
        index = node ^ ((unit >> 10) << ((unit & (1 << 9)) >> 6)) ^ label
        return index if self._units[index] & _LABEL == label else None

    def ends_word(self, node: int) -> bool:
        """Whether a word ends at a node."""
        return bool(self._units[node] & _LEAF)

    def arcs(self, node: int) -> list[Arc]:
        """Every letter that continues from a node, with the node behind it and whether a word ends there."""
        found = self._arcs.get(node)
        if found is None:
            behind = ((letter, self.follow(node, letter)) for letter in LETTERS)
            found = [(letter, index, self.ends_word(index)) for letter, index in behind if index is not None]
            self._arcs[node] = found
        return found

    def walk(self, letters: str, node: int = root) -> int | None:
        """The node behind a sequence of letters; None if no word continues so."""
        for letter in letters:
            behind = self.follow(node, letter)
            if behind is None:
                return None
            node = behind
        return node

    def __contains__(self, word: str) -> bool:
        node = self.walk(word)
        return node is not None and node != self.root and self.ends_word(node)


@cache
def graph_of(lexicon: str) -> WordGraph:
    """The graph of a list by name, read once per process; `python games/crossword/lexicon.py NAME` writes its file.

    Raises FileNotFoundError.
    """
    return WordGraph.read(LEXICA / f"{lexicon}.dawg")
