"""Plays gomoku by threats: completes fours, blocks them, and makes and blocks threes that become open fours.

Each move it looks once at every line of five spaces, which takes about a millisecond. It does not search ahead.
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
WORTH = 5.0  # each further mark multiplies a line's worth by this
OWN = 1.2  # weight of our own lines relative to the opponent's


class Threats(Bot):
    """Plays gomoku on a board of any size."""

    def choose(self, state: State) -> Turn:
        """The first available of: a win, a block, an open four, a block of one, the space with the best lines."""
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
    """The lines open to one side: `wins` complete a line; `fours` are pairs of the last two free spaces of a line."""

    def __init__(self, length: int) -> None:
        self._length = length
        self.wins: set[Space] = set()
        self.fours: list[Pair] = []
        self.worth: dict[Space, float] = defaultdict(float)

    def add(self, line: Line, own: set[Space], others: set[Space]) -> None:
        """Add a line; it is ignored if the other side has a mark in it."""
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
        """The spaces where a mark creates two wins at once, usually an open four; without using the space `blocked`."""
        follow: dict[Space, set[Space]] = defaultdict(set)
        for one, two in self.fours:
            if blocked not in (one, two):
                follow[one].add(two)
                follow[two].add(one)
        return {space for space, wins in follow.items() if len(wins) > 1}


@cache
def lines(size: int, length: int) -> tuple[Line, ...]:
    """Every line of `length` spaces on a board of `size` by `size`."""
    return tuple(_lines(size, length))


def _lines(size: int, length: int) -> Iterator[Line]:
    for x in range(size):
        for y in range(size):
            for right, down in DIRECTIONS:
                if 0 <= x + right * (length - 1) < size and 0 <= y + down * (length - 1) < size:
                    yield tuple((x + right * step, y + down * step) for step in range(length))


def value(mine: Lines, theirs: Lines, space: Space) -> float:
    """The worth of a space, from the lines through it."""
    return OWN * mine.worth.get(space, 0.0) + theirs.worth.get(space, 0.0)


def best(mine: Lines, theirs: Lines, worth: dict[Space, float]) -> Space:
    """The space to take; the keys of `worth` are the free spaces."""
    for wanted in (mine.wins, theirs.wins, mine.doubles(), blocks(theirs)):
        if wanted:
            return dearest(wanted, worth)
    return dearest(set(worth), worth)


def blocks(theirs: Lines) -> set[Space]:
    """The spaces that leave the other side the fewest open fours; none if it threatens none."""
    threats = theirs.doubles()
    if not threats:
        return set()
    around = {space for four in theirs.fours if threats.intersection(four) for space in four}
    left = {space: len(theirs.doubles(blocked=space)) for space in around}
    return {space for space in around if left[space] == min(left.values())}


def dearest(spaces: set[Space], worth: dict[Space, float]) -> Space:
    """A random one of the spaces of the greatest worth."""
    most = max(worth[space] for space in spaces)
    return random.choice(sorted(space for space in spaces if worth[space] == most))


if __name__ == "__main__":
    main(Threats, arguments("threats", games=["gomoku"], game="gomoku"))
