"""The lists of allowed words: files in lexica/, each loaded once per process as a word graph."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dawg

FOLDER = Path(__file__).parent / "lexica"
FILE = re.compile(r"([^.].*)\.txt(?:\.gz)?")
WORD = re.compile(r"[A-Z]{2,15}")


class BadList(ValueError):
    """A file in lexica/ cannot be read as a list of words, or has none that fits the board."""


def names() -> list[str]:
    """Returns the names of the lists: what stands before `.txt` or `.txt.gz`, at whose end no other file is a list's.

    Raises BadList, with a sentence that names the file, for a list that could not be loaded when a match needs it.
    """
    found = {match[1] for path in FOLDER.iterdir() if (match := FILE.fullmatch(path.name))}
    for name in found:
        _check(name)
    return sorted(found)


@cache
def load(name: str) -> dawg.DAWG:
    """Returns the word graph of a list: `word in graph`, for a word in capitals.

    Raises FileNotFoundError if there is no such list, BadList if it is unusable.
    """
    built = _built(name)
    if not built.exists():
        return dawg.DAWG(words(name))
    try:
        return dawg.DAWG().load(str(built))
    except OSError:
        raise BadList(f"The word graph {built} cannot be read: delete it, and it is built from the list.") from None


def words(name: str) -> Iterator[str]:
    """Yields the words of a list, in capitals and in the order of the file. Raises FileNotFoundError, BadList."""
    some = False
    for line in _text(name).splitlines():
        word = line.strip().upper()
        if WORD.fullmatch(word):
            some = True
            yield word
    if not some:
        raise BadList(f"The word list {_file(name)} has no word of 2 to 15 letters from A to Z.")


def build(name: str) -> None:
    """Writes the word graph of a list beside it. Raises FileNotFoundError, BadList."""
    dawg.DAWG(sorted(words(name)), input_is_sorted=True).save(str(_built(name)))


def _check(name: str) -> None:
    """Loads what is loaded quickly; of a list without a word graph reads all, and looks at it up to the first word."""
    if _built(name).exists():
        load(name)
    else:
        next(words(name))


def _text(name: str) -> str:
    """The list as one text, without the byte order mark with which some editors begin a file."""
    file = _file(name)
    try:
        octets = file.read_bytes()
        return (gzip.decompress(octets) if file.suffix == ".gz" else octets).decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        packed = ", packed by gzip" if file.suffix == ".gz" else ""
        raise BadList(f"The word list {file} cannot be read as UTF-8 text{packed}.") from None


def _file(name: str) -> Path:
    packed = FOLDER / f"{name}.txt.gz"
    return packed if packed.exists() else FOLDER / f"{name}.txt"


def _built(name: str) -> Path:
    return FOLDER / f"{name}.dawg"
