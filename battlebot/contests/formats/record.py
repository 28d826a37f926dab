"""Who waits, who is paired, and which meetings there have been. Values only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


def pair_of(a: str, b: str) -> tuple[str, str]:
    """The two bots in the order of names, whoever moves first."""
    return (a, b) if a < b else (b, a)


@dataclass(frozen=True, slots=True)
class Waiter:
    """A waiting bot; `ticket` tells its connections apart if it has several."""

    bot: str
    ticket: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two waiters that meet for the n-th time (n from 1); `first` moves first. `round`: 0 in formats without rounds.

    `others`: the other waiters, in a format in which all meet together.
    """

    first: Waiter
    second: Waiter
    n: int
    round: int = 0
    others: tuple[Waiter, ...] = ()

    @property
    def waiters(self) -> tuple[Waiter, ...]:
        """All waiters, in the order of seats."""
        return (self.first, self.second, *self.others)


@dataclass(slots=True)
class Record:
    """The meetings of a contest so far, including reserved ones.

    `numbers`: bot -> opponent -> number of the meeting -> who moved first, in both directions; `last`: bot -> its
    latest opponent; `lead`: bot -> how much more often it moved first than second; `void`: pair -> number -> who moved
    first in the void meeting.
    """

    numbers: dict[str, dict[str, dict[int, str]]] = field(default_factory=lambda: defaultdict(dict))
    last: dict[str, str] = field(default_factory=dict)
    lead: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    void: dict[tuple[str, str], dict[int, str]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def of(cls, meetings: Iterable[tuple[str, str, int]], void: Iterable[tuple[str, str, int]] = ()) -> Record:
        """The record of meetings `(first mover, other, n)`, oldest first, and of void ones in any order."""
        record = cls()
        for first, second, n in void:
            record.void[pair_of(first, second)][n] = first
        for first, second, n in meetings:
            record.add(first, second, n)
        return record

    def add(self, first: str, second: str, n: int) -> None:
        """Adds the latest meeting."""
        between = self.numbers[first].get(second)
        if between is None:
            # one dictionary shared by both directions
            between = self.numbers[first][second] = self.numbers[second][first] = {}
        between[n] = first
        self.last[first], self.last[second] = second, first
        self.lead[first] += 1
        self.lead[second] -= 1

    def between(self, a: str, b: str) -> dict[int, str]:
        """The meetings of the two: number -> who moved first."""
        return self.numbers.get(a, {}).get(b, {})

    def met(self, a: str, b: str) -> int:
        """How often the two have met."""
        return len(self.between(a, b))

    def next_number(self, a: str, b: str) -> int:
        """The smallest number that no meeting of the two has."""
        used = self.between(a, b)
        return next(n for n in range(1, len(used) + 2) if n not in used)

    def first_mover(self, a: str, b: str, n: int) -> str:
        """Who moves first in the n-th meeting. First moves alternate within a pair.

        A pair with only void meetings alternates with those. In a pair's first meeting it is the one with the smaller
        lead, then the first in the order of names.
        """
        for number, first in (self.between(a, b) or self.void.get(pair_of(a, b), {})).items():
            other = b if first == a else a
            return first if (number - n) % 2 == 0 else other
        return min(a, b, key=lambda bot: (self.lead.get(bot, 0), bot))
