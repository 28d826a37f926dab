"""Plays gomoku by its threats: completes fours, blocks them, and makes and blocks what becomes an open four.

It looks at every line of five spaces once a move, which takes about a millisecond, and no move ahead beyond that.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import arguments, main

Space = tuple[int, int]
Line = tuple[Space, ...]
Pair = tuple[Space, Space]

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
WORTH = 5.0  # so many times as much is a line worth that has one mark more
OWN = 1.2  # a line of one's own, beside one of the opponent's


class Threats(Bot):
    """For gomoku, on any board."""

    def choose(self, state: State) -> Turn:
        """The first that there is: a win, a block, an open four, a block of one, the space in the best lines."""
        size, length = state["size"], state["winLength"]
        moves = [(x, y) for x, y in state["moves"]]
        if not moves:
            return {"x": size // 2, "y": size // 2}
        mine, theirs = Lines(length), Lines(length)
        own, others = set(moves[len(moves) % 2 :: 2]), set(moves[1 - len(moves) % 2 :: 2])
        for line in lines(size, length):
            mine.add(line, own, others)
            theirs.add(line, others, own)
        worth = {(x, y): value(mine, theirs, (x, y)) for x in range(size) for y in range(size)}
        for taken in moves:
            del worth[taken]
        x, y = best(mine, theirs, worth)
        return {"x": x, "y": y}


class Lines:
    """What one side has: `wins` complete a line; `fours` are the two spaces that are left of a line."""

    def __init__(self, length: int) -> None:
        self._length = length
        self.wins: set[Space] = set()
        self.fours: list[Pair] = []
        self.worth: dict[Space, float] = defaultdict(float)

    def add(self, line: Line, own: set[Space], others: set[Space]) -> None:
        """One more line: nothing, if the other side has a mark in it."""
        if not others.isdisjoint(line):
            return
        free = [space for space in line if space not in own]
        if len(free) == 1:
            self.wins.add(free[0])
        elif len(free) == 2:
            self.fours.append((free[0], free[1]))
        for space in free:
            self.worth[space] += WORTH ** (self._length - len(free))

    def doubles(self, blocked: Space | None = None) -> set[Space]:
        """The spaces at which a mark makes two wins at once, an open four above all; with one space `blocked`."""
        follow: dict[Space, set[Space]] = defaultdict(set)
        for one, two in self.fours:
            if blocked not in (one, two):
                follow[one].add(two)
                follow[two].add(one)
        return {space for space, wins in follow.items() if len(wins) > 1}


@cache
def lines(size: int, length: int) -> tuple[Line, ...]:
    """Every line of so many spaces on the board."""
    return tuple(_lines(size, length))


def _lines(size: int, length: int) -> Iterator[Line]:
    for x in range(size):
        for y in range(size):
            for right, down in DIRECTIONS:
                if 0 <= x + right * (length - 1) < size and 0 <= y + down * (length - 1) < size:
                    yield tuple((x + right * step, y + down * step) for step in range(length))


def value(mine: Lines, theirs: Lines, space: Space) -> float:
    """What a space is worth by the lines through it."""
    return OWN * mine.worth.get(space, 0.0) + theirs.worth.get(space, 0.0)


def best(mine: Lines, theirs: Lines, worth: dict[Space, float]) -> Space:
    """The space to take, of those in `worth`, which are free."""
    for wanted in (mine.wins, theirs.wins, mine.doubles(), blocks(theirs)):
        if wanted:
            return dearest(wanted, worth)
    return dearest(set(worth), worth)


def blocks(theirs: Lines) -> set[Space]:
    """The spaces that leave the other side as few open fours as can be; none where it threatens none."""
    threats = theirs.doubles()
    if not threats:
        return set()
    around = {space for four in theirs.fours if threats.intersection(four) for space in four}
    left = {space: len(theirs.doubles(blocked=space)) for space in around}
    return {space for space in around if left[space] == min(left.values())}


def dearest(spaces: set[Space], worth: dict[Space, float]) -> Space:
    """One of those that are worth the most."""
    most = max(worth[space] for space in spaces)
    return random.choice(sorted(space for space in spaces if worth[space] == most))


if __name__ == "__main__":
    main(Threats, arguments("threats", games=["gomoku"], game="gomoku"))
