"""What a contest's format is told, and what it answers. Values only; what a format is stands in `contract`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Met:
    """A meeting so far, reserved ones included.

    `state`: "open" (being played), "played", or "absent" (it did not take place). `victor`: of a played one the winner,
    None for a draw; of an absent one who was there, None for neither; None while open. `counts`: whether it moves the
    standings; an absent one may not. `others`: as in `Due`.
    """

    round: int
    n: int
    first: str
    second: str
    state: str
    victor: str | None
    counts: bool = True
    others: tuple[str, ...] = ()

    @property
    def bots(self) -> tuple[str, ...]:
        """All of them, in the order of seats."""
        return (self.first, self.second, *self.others)


@dataclass(frozen=True, slots=True)
class Due:
    """A meeting that is to be played now, whoever is there; `first` moves first.

    `others` are due beside the two in a format in which all meet together.
    """

    round: int
    n: int
    first: str
    second: str
    others: tuple[str, ...] = ()

    @property
    def bots(self) -> tuple[str, ...]:
        """All of them, in the order of seats."""
        return (self.first, self.second, *self.others)


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a format may know of a contest.

    `entrants` in seeding order; of an open contest whoever has entered. `meetings`: at most so many of a pair, 1 to 5;
    of a format in which all meet together, of all of them. `config`: as the format's `checked_config` returned it.
    `met` in the order in which they were reserved; void meetings are not among them, for they are played again: `void`
    are those, whose first movers move first again where number and round are the same. `points`: of a win, a draw, a
    loss. `settled`: of the rounds up to this one, all of which are over but for bots that withdrew, `met` has the open
    meetings only; 0 unless the format has `settled`. `gone`: those that have been waited for too long, in a format that
    goes on without them.
    """

    entrants: tuple[str, ...]
    withdrawn: frozenset[str]
    meetings: int
    config: Mapping[str, Any]
    met: tuple[Met, ...]
    points: tuple[int, int, int] = (3, 1, 0)
    void: tuple[Due, ...] = ()
    settled: int = 0
    gone: frozenset[str] = frozenset()
