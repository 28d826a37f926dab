"""The samples' move generator: against brute force with the game's own rules, on real positions and many racks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import dawg
import pytest
from histories import from_gcg
from thorough import TIMES

from battlebot.client.samples.crossword import tables
from battlebot.client.samples.crossword.generator import all_plays
from battlebot.client.samples.crossword.wordgraph import WordGraph, graph_of
from games.crossword import board as rules
from games.crossword import lexicon
from games.crossword.plays import IllegalPlay, read_play
from games.crossword.replay import replay

ENABLE1 = list(lexicon.words("enable1"))
SHORT = [word for word in ENABLE1 if len(word) == 2]
FILES = sorted((Path(__file__).parents[1] / "wire" / "gcg").glob("*.gcg"))

Found = dict[tuple[str, str], int]  # (position, tiles) -> score


def positions() -> Iterator[tuple[str, list[str]]]:
    """Boards of finished matches after some of their events, the empty one first."""
    yield "empty", [rules.EMPTY * rules.SIZE] * rules.SIZE
    for file in FILES:
        events = from_gcg(file.read_bytes())["events"]
        for count in (1, 5, 12, 24):
            yield f"{file.stem} {count}", replay(events[:count]).board


BOARDS = dict(positions())


def graph_of_words(words: list[str], folder: Path) -> WordGraph:
    """A graph of a few words."""
    dawg.DAWG(sorted(words), input_is_sorted=True).save(str(folder / "few.dawg"))
    return WordGraph.read(folder / "few.dawg")


def brute_force(words: list[str], board: list[str], rack: str) -> Found:
    """Each word at each place in each direction, with each choice of blanks, as the game's rules judge it."""
    known, found = set(words), {}
    for word in words:
        for row in range(rules.SIZE):
            for column in range(rules.SIZE):
                for down in (False, True):
                    place = rules.position((row, column), down)
                    for tiles in ways_to_lay(word, board, rack, row, column, down):
                        try:
                            play = read_play(board, rack, place, tiles)
                        except IllegalPlay:
                            continue
                        if play.words[0] == word and known.issuperset(play.words):
                            found[place, tiles] = play.score
    return found


def ways_to_lay(word: str, board: list[str], rack: str, row: int, column: int, down: bool) -> Iterator[str]:
    """What `played_tiles` may be for a word at a place: its tiles, each as a letter or as a blank."""
    ways = [("", rack)]
    for step, letter in enumerate(word):
        cell = (row + step * down, column + step * (not down))
        if max(cell) >= rules.SIZE:
            return
        there = rules.at(board, cell)
        if there != rules.EMPTY:
            ways = [(tiles + rules.EMPTY, left) for tiles, left in ways] if there.upper() == letter else []
            continue
        ways = [
            (tiles + laid, left.replace(held, "", 1))
            for tiles, left in ways
            for laid, held in ((letter, letter), (letter.lower(), rules.BLANK))
            if held in left
        ]
    yield from (tiles for tiles, _ in ways)


def generated(graph: WordGraph, board: list[str], rack: str) -> Found:
    """The generator's plays; none twice."""
    plays = all_plays(graph, board, rack)
    found = {(play.position, play.tiles): play.score for play in plays}
    assert len(found) == len(plays)
    return found


@pytest.mark.parametrize("name", list(BOARDS)[:: 4 if TIMES == 1 else 1])
def test_the_generator_finds_what_brute_force_finds(name: str, tmp_path: Path) -> None:
    """All of it, nothing else, each with the score of the rules; with few words, many racks."""
    random = Random(name)
    words = sorted({*SHORT, *random.sample([word for word in ENABLE1 if len(word) < 8], 60)})
    graph = graph_of_words(words, tmp_path)
    for size in (1, 3, 7):
        rack = "".join(random.sample(rules.ALL_TILES, size))
        assert generated(graph, BOARDS[name], rack) == brute_force(words, BOARDS[name], rack), rack
    rack = "?" + "".join(random.sample("AEIORSTNL", 2))
    assert generated(graph, BOARDS[name], rack) == brute_force(words, BOARDS[name], rack), rack


@pytest.mark.parametrize("name", list(BOARDS)[::3])
def test_all_plays_of_the_whole_list_are_legal(name: str) -> None:
    """Sevens, blanks and long words too: words, scores and the tiles that are laid."""
    random, known = Random(name), lexicon.load("enable1")
    rack = "".join(random.sample(rules.ALL_TILES.replace("?", ""), 6)) + "?"
    plays = all_plays(graph_of("enable1"), BOARDS[name], rack)
    for play in plays:
        judged = read_play(BOARDS[name], rack, play.position, play.tiles)
        assert judged.score == play.score
        assert all(word in known for word in judged.words)
        assert sorted(play.used) == sorted(rules.as_rack("".join(judged.tiles.values())))
    thrifty = all_plays(graph_of("enable1"), BOARDS[name], rack, thrifty=True)
    assert set(thrifty) <= set(plays)
    assert not plays or max(plays).score == max(thrifty).score


def test_openings_are_all_the_words_of_the_rack() -> None:
    """Known by counting: a word of n letters has n places across the centre, and as many down."""
    rack = "RETAINS"
    fitting = [word for word in ENABLE1 if len(word) <= 7 and not set(word) - set(rack)]
    fitting = [word for word in fitting if all(word.count(letter) <= rack.count(letter) for letter in word)]
    plays = all_plays(graph_of("enable1"), BOARDS["empty"], rack)
    assert len(plays) == 2 * sum(len(word) for word in fitting)
    assert {play.tiles for play in plays} == set(fitting)


def test_a_thrifty_search_leaves_out_only_what_it_says() -> None:
    """Words downwards on the empty board, and blanks for letters that are still on the rack."""
    rack = "TEE?"
    plays = all_plays(graph_of("enable1"), BOARDS["empty"], rack)
    thrifty = [
        play
        for play in plays
        if not play.down
        and all(
            play.tiles[:at].count(tile.upper()) == rack.count(tile.upper())
            for at, tile in enumerate(play.tiles)
            if tile.islower()
        )
    ]
    assert len(plays) > len(thrifty) > 0
    assert sorted(all_plays(graph_of("enable1"), BOARDS["empty"], rack, thrifty=True)) == sorted(thrifty)


def test_a_rack_without_a_word_has_no_play() -> None:
    """Nor has an empty one."""
    assert all_plays(graph_of("enable1"), BOARDS["empty"], "QVVUUII") == []
    assert all_plays(graph_of("enable1"), list(BOARDS.values())[-1], "") == []


def test_the_graph_is_the_list() -> None:
    """Read by the samples' own reader, every word and no other."""
    graph, known = graph_of("enable1"), set(ENABLE1)
    assert all(word in graph for word in ENABLE1)
    changed = [word[:-1] + letter for word in ENABLE1[::30] for letter in "AQZ"] + [
        word + "S" for word in ENABLE1[::30]
    ]
    assert [word in graph for word in changed] == [word in known for word in changed]
    assert "" not in graph


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"hello, this is no graph"])
def test_a_file_that_is_no_graph_is_refused(data: bytes, tmp_path: Path) -> None:
    """With its name."""
    (tmp_path / "x.dawg").write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.dawg"):
        WordGraph.read(tmp_path / "x.dawg")


def test_the_samples_tables_are_those_of_the_game() -> None:
    """They stand there twice, since a bot has nothing of the server's."""
    assert tables.COUNTS == rules.COUNTS
    assert {**tables.POINTS, "?": 0} == rules.POINTS
    layout = [
        "".join({"=": "T", "-": "D", '"': "t", "'": "d", " ": "."}[one] for one in row) for row in tables.PREMIUMS
    ]
    assert tuple(layout) == rules.LAYOUT
    assert (tables.SIZE, tables.RACK, tables.BONUS) == (rules.SIZE, rules.RACK, rules.BONUS)
