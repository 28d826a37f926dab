"""The lists of allowed words: files in lexica/, each loaded once per process as a word graph.

`python games/crossword/lexicon.py NAME...` writes the word graphs of lists beside them.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import shlex
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dawg

FOLDER = Path(__file__).parent / "lexica"
FILE = re.compile(r"([^.].*)\.txt(?:\.gz)?")
WORD = re.compile(r"[A-Z]{2,15}")
MOST_BUILT = 300_000  # words; of these a graph is built in a few seconds, and each process of a server builds its own


class BadList(ValueError):
    """A file in lexica/ is no list of words that fit the board, or needs a word graph that is written anew."""


def names() -> list[str]:
    """Returns the names of the lists: what stands before `.txt` or `.txt.gz`, at whose end no other file is a list's.

    Loads them all, so that no match waits for that. Raises BadList, with a sentence that names the file.
    """
    found = {match[1] for path in FOLDER.iterdir() if (match := FILE.fullmatch(path.name))}
    for name in found:
        load(name)
    return sorted(found)


@cache
def load(name: str) -> dawg.DAWG:
    """Returns the word graph of a list: `word in graph`, for a word in capitals.

    Raises FileNotFoundError if there is no such list, BadList if it is unusable.
    """
    built = _built(name)
    if not built.exists():
        found = list(words(name))
        if len(found) > MOST_BUILT:
            raise BadList(f"The word list {_file(name)} is too long to be used without a word graph: {_command(name)}.")
        return dawg.DAWG(found)
    if not _is_sealed(name):
        raise BadList(f"The word graph {built} may be of another list than {_file(name)} is now: {_command(name)}.")
    try:
        return dawg.DAWG().load(str(built))
    except OSError:
        raise BadList(f"The word graph {built} cannot be read: {_command(name)}.") from None


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
    """Writes the word graph of a list beside it, and of which list it is. Raises FileNotFoundError, BadList."""
    dawg.DAWG(sorted(words(name)), input_is_sorted=True).save(str(_built(name)))
    _seal(name).write_bytes(_digest(name))


def _is_sealed(name: str) -> bool:
    """Whether the word graph was built from the list as it is now: by its content, as copying changes a file's time."""
    seal = _seal(name)
    return seal.exists() and seal.read_bytes() == _digest(name)


def _digest(name: str) -> bytes:
    """What `sha256sum` prints for the list."""
    file = _file(name)
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n".encode()


def _command(name: str) -> str:
    return f"run `python {shlex.join((__file__, name))}`, which writes one"


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


def _seal(name: str) -> Path:
    return FOLDER / f"{name}.dawg.sha256"


if __name__ == "__main__":
    # by the path of this file: the package cannot be imported while a list is refused
    parser = argparse.ArgumentParser(description="Writes the word graphs of lists beside them.")
    parser.add_argument("name", nargs="+")
    for given in parser.parse_args().name:
        build(given)
