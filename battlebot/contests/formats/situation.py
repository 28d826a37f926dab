"""The values that a contest format receives and returns. The format itself is defined in `contract`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def directly(function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Calls the function, where there is nobody to whom its time matters."""
    return function(*arguments)


@dataclass(frozen=True, slots=True)
class Met:
    """A meeting so far; it may only have been reserved.

    `state`: "open" (being played), "played", or "absent" (it did not take place). `victor`: if played, the winner, or
    None for a draw; if absent, the bot that was there, or None; None while open. `counts`: whether it moves the
    standings, which an absent one may not. `others`: as in `Due`.
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
        """All bots, in the order of seats."""
        return (self.first, self.second, *self.others)


@dataclass(frozen=True, slots=True)
class Due:
    """A meeting to be played now, whether or not its bots wait; `first` moves first.

    `others`: the other bots, in a format in which all meet together.
    """

    round: int
    n: int
    first: str
    second: str
    others: tuple[str, ...] = ()

    @property
    def bots(self) -> tuple[str, ...]:
        """All bots, in the order of seats."""
        return (self.first, self.second, *self.others)


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a format may know about a contest.

    - `entrants`: in seeding order; in an open contest the bots that have entered, or, for pairing, those that wait.
    - `meetings`: the cap per pair, 1 to 5; for a format in which all meet together, the cap of all meetings.
    - `config`: as returned by the format's `checked_config`.
    - `met`: in the order of reservation, without void meetings, which are played again.
    - `points`: for a win, a draw, a loss.
    - `void`: the void meetings; when one is played again with its number and round, the same bot moves first.
    - `settled`: of the rounds up to this one, which are over except for withdrawn bots, `met` has only the open
      meetings; 0 unless the format defines `settled`.
    - `gone`: bots that have been missing for too long or are paused, in a format that goes on without them.
    - `resting`: the bots of meetings that are due, but may not begin yet.
    - `leads`: bot -> how much more often it moved first than second, if `met` has not all of its meetings: in an open
      contest, for pairing, of bots that have not met all others that wait.
    - `call`: how a module's function is called that cannot be interrupted for a tenth of a second or longer, with
      arguments that have a hash; a process in which bots play has another process call it.
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
    resting: frozenset[frozenset[str]] = frozenset()
    leads: Mapping[str, int] = field(default_factory=dict)
    call: Callable[..., Any] = directly

    def rests(self, bots: Iterable[str]) -> bool:
        """Whether a meeting of these bots may not begin yet, as the server has spoilt the last ones."""
        return bool(self.resting) and frozenset(bots) in self.resting
