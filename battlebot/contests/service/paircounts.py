"""Who beat whom in the contests asked for lately: of hundreds of bots it would be too much to read for each ranking."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from battlebot.contests.contest import Contest
from battlebot.contests.standings import Against, against_each
from battlebot.storage.contests import Contests
from battlebot.storage.standings import Standings

MOST_CONTESTS = 100
MOST_REMEMBERED = 100_000  # counts of a bot against another, some 15 MB: two contests in which 200 bots have all met

Standing = Mapping[str, Any]


@dataclass
class _Known:
    """bot -> its standing, and its counts, read after that. `stamp`: of the contest, read before both."""

    stamp: tuple[Any, ...]
    of: dict[str, tuple[Standing, Against]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(against) for _, against in self.of.values())


class PairCounts:
    """Each bot's counts against others, of which only those are read again that may have changed.

    A result changes the standings of its bots in the same transaction, and there is no way back to former ones without
    another revision of the contest (a match taken back, a recount). Whoever asks may have missed that one: its
    standings may be those of before a result again, whose counts were remembered for them.
    """

    def __init__(self, contests: Contests, standings: Standings) -> None:
        self._contests, self._standings = contests, standings
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    def of(self, contest: Contest, standings: Sequence[Standing], bots: Sequence[str]) -> Mapping[str, Against]:
        """What these bots have done against others, not older than their `standings`.

        These were read after the contest. Raises Unavailable.
        """
        if not self._contests.is_unchanged(contest):
            return self._read(contest, bots)
        known = self._of(contest)
        now = {row["bot_id"]: row for row in standings}
        if changed := [bot for bot in bots if bot not in known.of or known.of[bot][0] != now[bot]]:
            read = self._read(contest, changed)
            known.of.update({bot: (now[bot], against) for bot, against in read.items()})
        found = {bot: known.of[bot][1] for bot in bots}
        while len(self._known) > MOST_CONTESTS or sum(map(len, self._known.values())) > MOST_REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _read(self, contest: Contest, bots: Sequence[str]) -> Mapping[str, Against]:
        return against_each(bots, self._standings.pairs(*contest.where, bots))

    def _of(self, contest: Contest) -> _Known:
        stamp = (contest.created_at, contest.revision)
        known = self._known.get(contest.where)
        if known is None or known.stamp != stamp:
            known = self._known[contest.where] = _Known(stamp)
        self._known.move_to_end(contest.where)
        return known
