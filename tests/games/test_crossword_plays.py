"""Single plays of the crossword game: hand-worked scores, a row each, and the reasons for which plays are refused."""

from __future__ import annotations

import pytest

from games.crossword.board import ALL_TILES, EMPTY, LAYOUT, SIZE, Board, as_rack, parse_position, points, position
from games.crossword.plays import IllegalPlay, read_play

HELLO = "8D HELLO"


def board_of(*words: str) -> Board:
    """A board with those words on it, each as `8D HELLO` or `D8 HELLO`; a dot leaves what is there."""
    rows = [list(EMPTY * SIZE) for _ in range(SIZE)]
    for word in words:
        place, letters = word.split()
        where = parse_position(place)
        assert where is not None
        (row, column), down = where
        for number, letter in enumerate(letters):
            if letter != EMPTY:
                rows[row + number * down][column + number * (not down)] = letter
    return ["".join(row) for row in rows]


# what lies there, the play, its score, its words; how the score comes about
SCORES = {
    "start, H doubled, centre doubled: (8+1+1+1+1)*2": ((), HELLO, 24, ["HELLO"]),
    "start downwards, the same premiums: (8+1+1+1+1)*2": ((), "H4 HELLO", 24, ["HELLO"]),
    "start with two tiles: (1+1)*2": ((), "8G AT", 4, ["AT"]),
    "seven tiles: (1+1+1+1+1*2+1+1)*2+50": ((), "8H RETAINS", 66, ["RETAINS"]),
    "seven tiles with a blank: (1+1+1+1+0+1+1)*2+50": ((), "8H RETAiNS", 62, ["RETAINS"]),
    "a blank on a doubled letter: (0+1+1+1+1)*2": ((), "8D hELLO", 8, ["HELLO"]),
    "a blank on the doubled word: (8+1+1+1+0)*2": ((), "8D HELLo", 22, ["HELLO"]),
    "blanks alone: nothing": ((), "8G at", 0, ["AT"]),
    "a front extension, old premiums over: 1+1+8": ((HELLO,), "8B OT.....", 10, ["OTHELLO"]),
    "a back extension: 8+1": ((HELLO,), "8D .....S", 9, ["HELLOS"]),
    "an extension at both ends: 1+1+8+1": ((HELLO,), "8B OT.....S", 11, ["OTHELLOS"]),
    "an extension over a blank that lies there: 1+1+4": (("8D hELLO",), "8B OT.....", 6, ["OTHELLO"]),
    "parallel, O doubled twice: (1*2+3)+(1+1*2)+(1+3)": ((HELLO,), "9G OM", 12, ["OM", "LO", "OM"]),
    "a hook: SEA 1+1*2+1, HELLOS 8+1": ((HELLO,), "I8 SEA", 13, ["SEA", "HELLOS"]),
    "one tile, two words: HELLOS 8+1, SEA 1+1+1": ((HELLO, "I9 EA"), "8D .....S", 12, ["HELLOS", "SEA"]),
    "the same tile named downwards": ((HELLO, "I9 EA"), "I8 S..", 12, ["SEA", "HELLOS"]),
    "the doubled word counts across too: (1+3+1)*2+(3+1+1)*2": (("5F AT",), "E4 ICE", 20, ["ICE", "CAT"]),
    "double-double through S: (2+1+1+1+1+3+1)*4": (("H5 STAIR",), "5E DIS.ECT", 40, ["DISSECT"]),
    "triple-triple through R: (1+3+1+1*2+1+1+3+1)*9+50": (("E1 RE",), "1A ABST.ACT", 167, ["ABSTRACT"]),
    "triple word, the D that lies there not doubled: (2+1+3+1)*3": (("L8 DOT",), "8L .ICE", 21, ["DICE"]),
    "a tripled letter that is covered counts once: 10+1": (("B10 Q",), "10B .I", 11, ["QI"]),
    "a tripled letter, downwards too: Z 10*3+1, ZA 10*3+1": (("10C A", "B11 A"), "10B Z.", 62, ["ZA", "ZA"]),
    "a blank on a tripled letter: 0+1, 0+1": (("10C A", "B11 A"), "10B z.", 2, ["ZA", "ZA"]),
    "through two tiles: 4+1+1*3+1+1+2": (("E10 E", "G10 T"), "10D H.A.ED", 12, ["HEATED"]),
    "the last square of all, tripled: (3+1+1+1)*3": (("O12 CAT",), "O12 ...S", 18, ["CATS"]),
    "through a tile of the first column: 1+1+3*2": (("A8 CAT",), "9A .RM", 8, ["ARM"]),
    "fifteen squares, triple-triple: 28*9": (("8B NCOPYRIGHTABL",), f"8A U{'.' * 13}E", 252, ["UNCOPYRIGHTABLE"]),
    "seven tiles behind one: (1+3+10+1+1*2+1+1+2)*3+50": (("8H A",), "8H .CQUIRED", 113, ["ACQUIRED"]),
}


@pytest.mark.parametrize(("there", "play", "score", "words"), SCORES.values(), ids=list(SCORES))
def test_scores_worked_by_hand(there: tuple[str, ...], play: str, score: int, words: list[str]) -> None:
    """Words in capitals, the main one first, and the sum of all of them."""
    place, tiles = play.split()
    found = read_play(board_of(*there), as_rack(tiles.replace(EMPTY, "")), place, tiles)
    assert (found.score, list(found.words)) == (score, words)
    assert found.is_bingo == (len(tiles.replace(EMPTY, "")) == 7)


REFUSED = {
    "no position": ((), "D", "HELLO", "position must be"),
    "row 0": ((), "0D", "HELLO", "position must be"),
    "row 16": ((), "16D", "HELLO", "position must be"),
    "digits that are not 0 to 9": ((), "\u0668D", "HELLO", "position must be"),
    "column P": ((), "8P", "HELLO", "position must be"),
    "nothing": ((), "8D", "", "1 to 15 tiles"),
    "sixteen": ((), "8A", "A" * 16, "1 to 15 tiles"),
    "over the edge": ((), "8L", "HELLO", "leaves the board"),
    "over the lower edge": ((), "D12", "HELLO", "leaves the board"),
    "a digit": ((), "8D", "HE1LO", "Tiles are A to Z"),
    "a letter of another alphabet": ((), "8D", "HÉLLO", "Tiles are A to Z"),
    "a blank that stands for nothing": ((), "8D", "HE?LO", "Tiles are A to Z"),
    "through what is not there": ((), "8D", "HE.LO", "no tile on the board"),
    "on a tile": ((HELLO,), "8D", "YELLOW", "write a dot"),
    "dots only": ((HELLO,), "8D", ".....", "at least one tile"),
    "not on the rack": ((), "8D", "JELLO", "rack does not hold"),
    "two blanks": ((), "8D", "hEllO", "rack does not hold"),
    "off the centre": ((), "7D", "HELLO", "covers the centre"),
    "one tile at the start": ((), "8H", "H", "two tiles"),
    "apart": ((HELLO,), "3D", "HE", "must touch"),
    "corner to corner": ((HELLO,), "9I", "HE", "must touch"),
    "at the upper edge, opposite to a tile at the lower": (("15A HE",), "1A", "HE", "must touch"),
    "at the left edge, opposite to a tile at the right": (("O7 HE",), "A7", "HE", "must touch"),
    "only a part of the word, in front": ((HELLO,), "8E", "....S", "whole word"),
    "only a part of the word, behind": ((HELLO,), "8C", "O...", "whole word"),
    "right behind a word": ((HELLO,), "8I", "S", "whole word"),
}


@pytest.mark.parametrize(("there", "place", "tiles", "why"), REFUSED.values(), ids=list(REFUSED))
def test_plays_that_are_refused(there: tuple[str, ...], place: str, tiles: str, why: str) -> None:
    """Each with a sentence about it."""
    with pytest.raises(IllegalPlay, match=why):
        read_play(board_of(*there), "HELOLOS?Y", place, tiles)


@pytest.mark.parametrize(("there", "place"), [(HELLO, "7D"), (HELLO, "9H"), ("H4 HELLO", "G8"), ("H4 HELLO", "I8")])
def test_a_play_may_touch_a_tile_on_any_side(there: str, place: str) -> None:
    """One side is enough: here from above, from below, from the left and from the right."""
    assert len(read_play(board_of(there), "A", place, "A").words) == 1


def test_the_board_is_the_standard_one() -> None:
    """Counts of premium squares, and their symmetry."""
    squares = "".join(LAYOUT)
    assert {kind: squares.count(kind) for kind in "TDtd."} == {"T": 8, "D": 17, "t": 12, "d": 24, ".": 164}
    turned = ["".join(column) for column in zip(*LAYOUT, strict=True)]
    assert list(LAYOUT) == turned == [row[::-1] for row in LAYOUT] == list(LAYOUT[::-1])


def test_the_tiles_are_the_english_ones() -> None:
    """A hundred of them, worth 187 points; a blank that stands for a letter is worth nothing."""
    assert len(ALL_TILES) == 100
    assert points(ALL_TILES) == 187
    assert points("qUIz?") == 2


def test_positions_are_read_as_they_are_written() -> None:
    """All cells, both directions; in small letters too."""
    for row in range(SIZE):
        for column in range(SIZE):
            for down in (False, True):
                text = position((row, column), down)
                assert parse_position(text) == parse_position(text.lower()) == ((row, column), down)
