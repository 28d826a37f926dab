"""The word list of the crossword game: what is in it, its word graph, and other lists by file."""

from __future__ import annotations

import gzip
import os
import shlex
import shutil
import subprocess
import sys
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
    """And says so."""
    committed = Path(lexicon.__file__).parent / "lexica"
    (folder / "enable1.txt.gz").write_bytes((committed / "enable1.txt.gz").read_bytes())
    lexicon.build("enable1")
    for name in ("enable1.dawg", "enable1.dawg.sha256"):
        assert (folder / name).read_bytes() == (committed / name).read_bytes()


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_any_other_list_is_a_file(folder: Path, packed: bool, built: bool) -> None:
    """Plain or packed, in any case and order; what is no word for the board is left out."""
    text = "zebra \nCAB\n\nan\no'clock\nA\n" + "a" * 16 + "\n"
    if packed:
        (folder / "mine.txt.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / "mine.txt").write_text(text)
    if built:
        lexicon.build("mine")
    assert lexicon.names() == ["mine"]
    graph = lexicon.load("mine")
    assert [word in graph for word in ("ZEBRA", "CAB", "AN", "OCLOCK", "A", "A" * 16)] == [True] * 3 + [False] * 3


def test_a_name_is_all_that_stands_before_the_end_of_the_file(folder: Path) -> None:
    """Dots within it too; copies that an editor leaves, and what a system hides, are no lists."""
    for name in (
        "csw.21.txt",
        "csw.txt.gz.txt",
        "mine.txt",
        "mine.txt.bak",
        "mine.txt~",
        "._mine.txt",
        ".txt",
        "a.dawg",
    ):
        (folder / name).write_text("zebra\n")
    (folder / "mine.txt.gz").write_bytes(gzip.compress(b"cab\n"))
    assert lexicon.names() == ["csw.21", "csw.txt.gz", "mine"]
    assert [list(lexicon.words(name)) for name in lexicon.names()] == [["ZEBRA"], ["ZEBRA"], ["CAB"]]
    lexicon.build("csw.21")
    assert "ZEBRA" in lexicon.load("csw.21")


@pytest.mark.parametrize("name", ["mine.txt", "mine.txt.gz"])
def test_a_byte_order_mark_costs_no_word(name: str, folder: Path) -> None:
    """Editors write one before the first."""
    text = b"\xef\xbb\xbfaardvark\r\nzebra\r\n"
    (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert list(lexicon.words("mine")) == ["AARDVARK", "ZEBRA"]


BAD = {
    "empty.txt": b"",
    "unfit.txt": b"A\n12\n" + b"a" * 16,
    "latin.txt": b"zebra\ncaf\xe9\n",
    "utf16.txt": "zebra\n".encode("utf-16"),
    "empty.txt.gz": gzip.compress(b""),
    "plain.txt.gz": b"zebra\n",
    "cut.txt.gz": gzip.compress(os.urandom(999))[:500],
    "spoilt.txt.gz": gzip.compress(b"")[:10] + b"\xff" * 30,
}


@pytest.mark.parametrize("name", BAD)
def test_an_unusable_list_is_one_sentence_with_its_file(name: str, folder: Path) -> None:
    """When the lists are looked through, not when a match needs it; nor is a word graph made of it."""
    (folder / name).write_bytes(BAD[name])
    for use in (lexicon.names, lambda: lexicon.load(name.split(".")[0]), lambda: lexicon.build(name.split(".")[0])):
        with pytest.raises(lexicon.BadList, match=rf"^The word list .*/{name} [^\n]*\.$"):
            use()
    assert [file.name for file in folder.iterdir()] == [name]


@pytest.mark.parametrize("octets", [b"", b"no graph"])
def test_an_unusable_word_graph_is_one_sentence_with_its_file(octets: bytes, folder: Path) -> None:
    """As a list is."""
    (folder / "mine.txt").write_text("zebra\n")
    lexicon.build("mine")
    (folder / "mine.dawg").write_bytes(octets)
    with pytest.raises(lexicon.BadList, match=r"^The word graph .*/mine\.dawg [^\n]*\.$"):
        lexicon.names()


@pytest.mark.parametrize("change", ["more words", "no seal"])
def test_a_word_graph_that_may_be_of_another_list_is_refused_whatever_the_times_of_the_files(
    folder: Path, change: str
) -> None:
    """A word that has been added to the list would count as none."""
    (folder / "mine.txt").write_text("cab\n")
    lexicon.build("mine")
    assert lexicon.names() == ["mine"]
    lexicon.load.cache_clear()
    if change == "more words":
        (folder / "mine.txt").write_text("cab\nzebra\n")
        os.utime(folder / "mine.txt", (0, 0))
    else:
        (folder / "mine.dawg.sha256").unlink()
    with pytest.raises(
        lexicon.BadList, match=r"^The word graph .*/mine\.dawg may be of another list .*lexicon.py mine"
    ):
        lexicon.names()
    lexicon.build("mine")
    lexicon.names()
    assert ("ZEBRA" in lexicon.load("mine")) is (change == "more words")


def test_no_match_waits_for_a_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long one took ten seconds at its first challenge, in which a node's bots are told nothing."""
    (folder / "short.txt").write_text("cab\nzebra\n")
    assert lexicon.names() == ["short"]
    (folder / "short.txt").unlink()
    assert "ZEBRA" in lexicon.load("short")
    (folder / "long.txt").write_text("cab\nzebra\nan\n")
    monkeypatch.setattr(lexicon, "MOST_BUILT", 2)
    with pytest.raises(lexicon.BadList, match=r"^The word list .*/long\.txt is too long .*lexicon.py long"):
        lexicon.names()
    lexicon.build("long")
    assert lexicon.names() == ["long"]


def test_the_command_that_a_refusal_names_makes_the_list_usable(tmp_path: Path) -> None:
    """Though the package cannot be imported before."""
    home = tmp_path / "games" / "crossword"
    shutil.copytree(Path(lexicon.__file__).parents[1], tmp_path / "games")
    (home / "lexica" / "mine.txt").write_text("zebra\n")
    (home / "lexica" / "mine.dawg").write_bytes(b"of a list of before")
    use = [sys.executable, "-c", "from games.crossword import lexicon; print('ZEBRA' in lexicon.load('mine'))"]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    refused = subprocess.run(use, env=environ, cwd=tmp_path, capture_output=True, text=True)
    python, *command = shlex.split(refused.stderr.split("`")[1])
    assert (python, command) == ("python", [str(home / "lexicon.py"), "mine"])
    subprocess.run([sys.executable, *command], check=True)
    assert subprocess.run(use, env=environ, cwd=tmp_path, capture_output=True, text=True).stdout == "True\n"


def test_an_unusable_list_stops_the_start(tmp_path: Path) -> None:
    """As whatever breaks a game does."""
    shutil.copytree(Path(lexicon.__file__).parents[1], tmp_path / "games")
    (tmp_path / "games" / "crossword" / "lexica" / "mine.txt").touch()
    code = "from battlebot.rules.registry import discover; discover()"
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True)
    last = found.stderr.splitlines()[-1]
    assert last.startswith("battlebot.errors.BadGame: games/crossword/__init__.py: ")
    assert f"{tmp_path}/games/crossword/lexica/mine.txt has no word of 2 to 15 letters" in last


def test_a_list_that_is_not_there_is_an_error(folder: Path) -> None:
    """Nothing falls back in silence."""
    with pytest.raises(FileNotFoundError):
        lexicon.load("mine")
