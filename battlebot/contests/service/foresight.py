"""What the format of a contest foresees, which may take all of its meetings: worked out once for all who look."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from battlebot.contests.contest import Contest
from battlebot.contests.formats.situation import Situation
from battlebot.contests.installed import format_of
from battlebot.errors import Unavailable

REMEMBERED_S = 2.0  # how long it is cached, unless results or changes come
MOST_REMEMBERED = 100  # contests

Where = tuple[str, str]


@dataclass(frozen=True)
class Seen:
    """What was foreseen of a contest of this `stamp` when so many meetings were `played`, or why nothing was.

    `began_s`, `ended_s`: when it was worked out (monotonic).
    """

    stamp: tuple[Any, ...]
    played: int
    began_s: float
    ended_s: float
    told: dict[str, Any] | Unavailable

    def serves(self, stamp: tuple[Any, ...], played: int, came_s: float) -> bool:
        """Whether it is new enough for one who has counted so many, and has come then."""
        if self.stamp != stamp:
            return False
        if self.began_s >= came_s:
            return True
        lately = came_s - self.ended_s < REMEMBERED_S
        return lately and self.played == played and not isinstance(self.told, Unavailable)


@dataclass
class Foresight:
    """`situation`: reads the contest as its format sees it, with all meetings, or with those of these bots alone.

    It raises Unavailable if it cannot.
    """

    situation: Callable[[Contest, Collection[str] | None], Situation]
    _seen: dict[Where, Seen] = field(default_factory=dict)
    _guards: WeakValueDictionary[Where, threading.Lock] = field(default_factory=WeakValueDictionary)

    def of(self, contest: Contest, played: int) -> dict[str, Any]:
        """`{"planned", "byes", "winner"}`, not older than the count of `played` meetings. Raises Unavailable.

        Those who ask at one moment wait for one of them, as each would hold all meetings in memory.
        """
        stamp, came_s = (contest.created_at, contest.revision), time.monotonic()
        guard = self._guards.setdefault(contest.where, threading.Lock())
        with guard:
            seen = self._seen.get(contest.where)
            if seen is None or not seen.serves(stamp, played, came_s):
                began_s = time.monotonic()
                told = self._told(contest)
                seen = Seen(stamp, played, began_s, time.monotonic(), told)
                self._keep(contest.where, seen)
        if isinstance(seen.told, Unavailable):
            raise seen.told
        return seen.told

    def _told(self, contest: Contest) -> dict[str, Any] | Unavailable:
        form = format_of(contest)
        try:
            situation = self.situation(contest, contest.withdrawn if form.PLANS_AHEAD else None)
        except Unavailable as error:
            return error
        return {"planned": form.planned(situation), "byes": form.byes(situation), "winner": form.winner(situation)}

    def _keep(self, where: Where, seen: Seen) -> None:
        if len(self._seen) >= MOST_REMEMBERED:
            self._seen.clear()
        self._seen[where] = seen
