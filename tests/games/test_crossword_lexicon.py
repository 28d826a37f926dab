"""The word list of the crossword game: what is in it, its word graph, and other lists by file."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from games.crossword import lexicon


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of lists, read afresh."""
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    lexicon.load.cache_clear()
    yield tmp_path
    lexicon.load.cache_clear()


def test_enable1_has_the_words_that_fit_the_board() -> None:
    """Of 172,820 words 4,272 have more than 15 letters."""
    words = list(lexicon.words("enable1"))
    assert len(words) == len(set(words)) == 168_548
    assert {len(word) for word in words} == set(range(2, 16))


def test_the_word_graph_is_that_of_the_list() -> None:
    """Every word is in it, and as many as there are; what is built again is the same."""
    graph, words = lexicon.load("enable1"), list(lexicon.words("enable1"))
    assert all(word in graph for word in words)
    known = set(words)
    changed = [word[:-1] + letter for word in words[::20] for letter in "AQZ"] + [word + "S" for word in words[::20]]
    assert [word in graph for word in changed] == [word in known for word in changed]
    assert not any(word in graph for word in ("", "A", "hello", "HELL", "HELLOOO", "QUIZZ") if word not in known)


def test_the_committed_graph_is_what_the_list_builds(folder: Path) -> None:
    """`python -m games.crossword enable1` writes it."""
    committed = Path(lexicon.__file__).parent / "lexica"
    (folder / "enable1.txt.gz").write_bytes((committed / "enable1.txt.gz").read_bytes())
    lexicon.build("enable1")
    assert (folder / "enable1.dawg").read_bytes() == (committed / "enable1.dawg").read_bytes()


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_any_other_list_is_a_file(folder: Path, packed: bool, built: bool) -> None:
    """Plain or packed, in any case and order; what is no word for the board is left out."""
    text = "zebra\nCAB\n\nan\no'clock\nA\n" + "a" * 16 + "\n"
    if packed:
        (folder / "mine.txt.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / "mine.txt").write_text(text)
    if built:
        lexicon.build("mine")
    assert lexicon.names() == ["mine"]
    graph = lexicon.load("mine")
    assert [word in graph for word in ("ZEBRA", "CAB", "AN", "OCLOCK", "A", "A" * 16)] == [True] * 3 + [False] * 3


def test_a_list_that_is_not_there_is_an_error(folder: Path) -> None:
    """Nothing falls back in silence."""
    with pytest.raises(FileNotFoundError):
        lexicon.load("mine")
