"""The lists of allowed words: files in lexica/, each loaded once per process as a word graph."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dawg

FOLDER = Path(__file__).parent / "lexica"
WORD = re.compile(r"[A-Z]{2,15}")


def names() -> list[str]:
    """Returns the names of the lists."""
    return sorted({path.name.split(".")[0] for path in FOLDER.glob("*.txt*")})


@cache
def load(name: str) -> dawg.DAWG:
    """Returns the word graph of a list: `word in graph`, for a word in capitals.

    Raises FileNotFoundError if there is no such list.
    """
    built = FOLDER / f"{name}.dawg"
    if built.exists():
        return dawg.DAWG().load(str(built))
    return dawg.DAWG(words(name))


def words(name: str) -> Iterator[str]:
    """Yields the words of a list, in capitals and in the order of the file. Raises FileNotFoundError."""
    plain, packed = FOLDER / f"{name}.txt", FOLDER / f"{name}.txt.gz"
    with gzip.open(packed, "rt") if packed.exists() else plain.open() as file:
        for line in file:
            word = line.strip().upper()
            if WORD.fullmatch(word):
                yield word


def build(name: str) -> None:
    """Writes the word graph of a list beside it. Raises FileNotFoundError."""
    dawg.DAWG(sorted(words(name)), input_is_sorted=True).save(str(FOLDER / f"{name}.dawg"))
