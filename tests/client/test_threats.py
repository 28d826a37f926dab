"""The sample that plays gomoku by its threats: on every line, at every gap, and in good time."""

from __future__ import annotations

import random
from functools import partial
from itertools import product
from typing import Any

import pytest
from cpu import least_cpu_s
from test_samples import match

from battlebot.client.samples.random_player import RandomPlayer
from battlebot.client.samples.threats import DIRECTIONS, Lines, Threats, best, lines

Space = tuple[int, int]

FAR = [(0, 14), (14, 14), (0, 12), (14, 12), (2, 14), (12, 14)]  # marks of the other side that threaten nothing
SPOTS = [(5, 5), (1, 8), (7, 6)]
NEAR = range(-4, 5)


def chosen(first: list[Space], second: list[Space], size: int = 15, length: int = 5) -> Space:
    """What the bot takes that is to move: the first player where both have as many marks."""
    moves = [list(move) for pair in zip(first, second, strict=False) for move in pair]
    moves += [list(move) for move in first[len(second) :]]
    state: dict[str, Any] = {"size": size, "winLength": length, "moves": moves, "players": ["a", "b"]}
    turn = Threats().choose(state)
    return turn["x"], turn["y"]


def row(start: Space, direction: Space, steps: str) -> tuple[list[Space], list[Space]]:
    """Along a line from `start`: the spaces with an `X`, and those with a dot."""
    spaces = [(start[0] + n * direction[0], start[1] + n * direction[1]) for n in range(len(steps))]
    pairs = list(zip(spaces, steps, strict=True))
    return [space for space, what in pairs if what == "X"], [space for space, what in pairs if what == "."]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("start", SPOTS)
@pytest.mark.parametrize("steps", [".XXXX", "XXXX.", "X.XXX", "XX.XX", "XXX.X"])
@pytest.mark.parametrize("own", [True, False])
def test_a_four_is_completed_or_blocked(direction: Space, start: Space, steps: str, own: bool) -> None:
    """Whosever it is, wherever it lies, wherever the gap is."""
    four, [gap] = row(start, direction, steps)
    # an open four has two ends; the one that is not meant is closed
    beyond = {".XXXX": 5, "XXXX.": -1}.get(steps)
    closed = FAR[5] if beyond is None else (start[0] + beyond * direction[0], start[1] + beyond * direction[1])
    other = [closed, *FAR[:3]]
    assert (chosen(four, other) if own else chosen([*other, FAR[4]], four)) == gap


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("start", SPOTS)
@pytest.mark.parametrize("steps", ["..XXX..", ".X.XX.", ".XX.X."])
def test_an_open_three_becomes_an_open_four(direction: Space, start: Space, steps: str) -> None:
    """After which two spaces win."""
    three, _ = row(start, direction, steps)
    assert len(wins([*three, chosen(three, FAR[:3])], FAR[:3])) >= 2


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("start", SPOTS)
@pytest.mark.parametrize("steps", ["..XXX..", ".X.XX.", ".XX.X."])
def test_an_open_three_of_the_other_side_is_blocked(direction: Space, start: Space, steps: str) -> None:
    """So that no open four can be made of it."""
    three, _ = row(start, direction, steps)
    other = FAR[:3]
    taken = chosen(other, three)
    other = [*other, taken]
    for space in around(three):
        if space not in [*three, *other]:
            assert len(wins([*three, space], other)) < 2


def around(marks: list[Space]) -> set[Space]:
    """The spaces of the board near these."""
    near = {(x + right, y + down) for x, y in marks for right in NEAR for down in NEAR}
    return {(x, y) for x, y in near if 0 <= x < 15 and 0 <= y < 15}


def wins(marks: list[Space], other: list[Space]) -> list[Space]:
    """The free spaces at which one more mark completes five."""
    return [space for space in around(marks) if space not in [*marks, *other] and is_five({*marks, space}, space)]


def is_five(marks: set[Space], last: Space) -> bool:
    """Whether the last mark completes five or more in a line."""
    for right, down in DIRECTIONS:
        line = ["X" if (last[0] + n * right, last[1] + n * down) in marks else " " for n in NEAR]
        if "XXXXX" in "".join(line):
            return True
    return False


def test_a_win_comes_before_a_block_and_a_block_before_an_open_four() -> None:
    """In that order."""
    mine, theirs = [(0, n) for n in range(4)], [(5, n) for n in range(4)]
    assert chosen(mine, theirs) == (0, 4)
    assert chosen([(7, 5), (7, 6), (7, 7), (14, 14)], theirs) == (5, 4)


def test_other_boards_are_played_too() -> None:
    """Other sizes, other lengths; the middle of an empty one."""
    assert chosen([], [], 9) == (4, 4)
    assert chosen([(1, 1), (2, 1)], [(5, 5), (0, 1)], 6, 3) == (3, 1)


def test_it_beats_chance_from_either_seat() -> None:
    """Every time, and soon."""
    random.seed(7)
    for _ in range(5):
        for seat in (0, 1):
            bots = [RandomPlayer(), RandomPlayer()]
            bots[seat] = Threats()  # type: ignore[call-overload]
            final = match("gomoku", *bots)
            assert final["victor"] == f"bot {seat}"
            assert len(final["moves"]) < 40


def test_its_thinking_does_not_grow_with_the_marks_on_the_board() -> None:
    """Forty of them cost less than ten times what the first four do: it looks along lines, not through futures."""
    marks = list(product(range(0, 15, 2), range(0, 15, 3)))
    few, many = (partial(chosen, marks[0:n:2], marks[1:n:2]) for n in (4, 40))
    assert least_cpu_s(many) < 10 * least_cpu_s(few)


def test_a_block_comes_before_any_space_however_good() -> None:
    """A line of one's own that is not urgent must wait."""
    three = {(6, 7), (7, 7), (8, 7)}
    mine, theirs = Lines(5), Lines(5)
    for line in lines(15, 5):
        mine.add(line, set(), three)
        theirs.add(line, three, set())
    worth = {(x, y): 0.0 for x in range(15) for y in range(15) if (x, y) not in three}
    worth[0, 0] = 1e9
    assert best(mine, theirs, worth) in {(5, 7), (9, 7)}
