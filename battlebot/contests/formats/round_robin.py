"""Round-robin: everyone on the list meets everyone `meetings` times, in rounds by the circle method."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Situation
from battlebot.errors import Refused
from battlebot.runtime.cooperative import cooperatively

# 200 bots, five meetings a pair: web nodes look at it too
MOST_MEETINGS = 100_000


class RoundRobin(Format):
    """A schedule fixed at the start, of which each bot plays what it can."""

    NAME = "round-robin"
    CLOSED = True
    TOGETHER = False
    PLANS_AHEAD = True

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """It has no settings. Raises Refused, also if there would be more than MOST_MEETINGS."""
        check_fields(given, (), entrants)
        size = len(entrants)
        planned = meetings * size * (size - 1) // 2
        if planned > MOST_MEETINGS:
            what = f"{size} bots with {meetings} meetings a pair would play {planned}."
            raise Refused(f"A round-robin contest has {MOST_MEETINGS} meetings at most; {what}", field="entrants")
        return {}

    def due(self, situation: Situation) -> list[Due]:
        """Each bot's next meetings in the order of the rounds, up to a limited number of skipped opponents.

        A bot whose opponent is not free goes on to the next, so that nobody waits for a round to end. It may skip at
        most a quarter of the field, at least one, so that it does not run far ahead into later rounds. A meeting is due
        if it is within reach of either of its bots. A pair plays one meeting at a time, in order.
        """
        schedule, left, busy = _standing(situation)
        reach = 1 + max(1, len(situation.entrants) // 4)
        found: set[int] = set()
        for bot in cooperatively(situation.entrants):
            found.update(sorted([left[pair] for pair in schedule.pairs_of(bot) if pair in left])[:reach])
        found.difference_update(left[pair] for pair in busy if pair in left)
        return [schedule.meeting(place) for place in sorted(found)]

    def complete(self, situation: Situation) -> bool:
        """Whether every pair of bots that stayed has met `meetings` times, and nothing is open."""
        _, left, busy = _standing(situation)
        return not left and not busy

    def settled(self, situation: Situation) -> int:
        """The last round up to which all is over, except for withdrawn bots; the last of all if nothing is left."""
        schedule, left, _ = _standing(situation)
        if left:
            return schedule.round(min(left.values())) - 1
        return schedule.round(schedule.size - 1) if schedule.size else 0

    def planned(self, situation: Situation) -> int | None:
        """The whole schedule, without what withdrawn bots left unplayed; `met` must have all of their meetings."""
        staying = sum(bot not in situation.withdrawn for bot in situation.entrants)
        of_the_gone = sum(not situation.withdrawn.isdisjoint((met.first, met.second)) for met in situation.met)
        return situation.meetings * staying * (staying - 1) // 2 + of_the_gone


class Cycle(NamedTuple):
    """The rounds in which every two bots meet once, pair by pair in their order. A bot is its place on the list.

    `firsts` and `others`: pair -> who moves first, and the other; `pairs`: `i * size + j` -> the pair of i and j, in
    either order, or -1 for a bot and itself.
    """

    firsts: array[int]
    others: array[int]
    pairs: array[int]


class Schedule:
    """The schedule: `cycles` cycles, alike but for the first moves, which alternate within a pair.

    A meeting has a place in the order of rounds: that of its pair, plus the number of pairs for each earlier cycle.
    Every bot's first and second moves differ by at most one, per cycle and in all. Cheap to make, and never kept: it
    computes what it is asked for, as all of it takes 20 MB for 200 bots.
    """

    def __init__(self, entrants: Sequence[str], cycles: int) -> None:
        self._entrants = entrants
        self._numbers = {bot: number for number, bot in enumerate(entrants)}
        self._cycle = _cycle(len(entrants))
        self.pairs = len(self._cycle.firsts)
        self.size = cycles * self.pairs

    def pair(self, a: str, b: str) -> int:
        """The pair of two entrants, in either order."""
        return self._cycle.pairs[self._numbers[a] * len(self._entrants) + self._numbers[b]]

    def pairs_of(self, bot: str) -> Sequence[int]:
        """The pairs of a bot, and -1; none of one that is not on the list."""
        number, size = self._numbers.get(bot), len(self._entrants)
        return () if number is None else self._cycle.pairs[number * size : (number + 1) * size]

    def round(self, place: int) -> int:
        """The round of the meeting at that place, from 1: each has as many meetings."""
        return 1 + place // (len(self._entrants) // 2)

    def meeting(self, place: int) -> Due:
        """The meeting at that place, from 0 to `size` - 1."""
        cycle, pair = divmod(place, self.pairs)
        first, second = (self._entrants[by[pair]] for by in (self._cycle.firsts, self._cycle.others))
        return Due(self.round(place), cycle + 1, *((second, first) if cycle % 2 else (first, second)))


def _standing(situation: Situation) -> tuple[Schedule, dict[int, int], set[int]]:
    """The schedule; pairs of bots that stayed -> place of their first unfinished meeting; pairs that play now."""
    schedule = Schedule(situation.entrants, situation.meetings)
    over = _over_by(situation.settled, len(situation.entrants))
    busy = set()
    for met in situation.met:
        pair = schedule.pair(met.first, met.second)
        if met.state == "open":
            busy.add(pair)
        else:
            over[pair] |= 1 << (met.n - 1)
    whole = (1 << situation.meetings) - 1
    away = {pair for bot in situation.withdrawn for pair in schedule.pairs_of(bot)}
    left = {
        pair: _lowest_missing(mask) * schedule.pairs + pair
        for pair, mask in enumerate(cooperatively(over))
        if mask != whole and pair not in away
    }
    return schedule, left, busy


def _over_by(rounds: int, size: int) -> list[int]:
    """For each pair, which of its meetings are in the first `rounds` rounds, as a bit mask starting with n = 1.

    A round has size // 2 meetings. Pairs are numbered in the order of the first cycle, which all cycles share.
    """
    count = size * (size - 1) // 2
    cycles, more = divmod(rounds * (size // 2), count) if count else (0, 0)
    return [(1 << (cycles + 1)) - 1] * more + [(1 << cycles) - 1] * (count - more)


def _lowest_missing(mask: int) -> int:
    return (~mask & (mask + 1)).bit_length() - 1


@lru_cache(maxsize=32)
def _cycle(size: int) -> Cycle:
    """By the circle method: in round k, places that add up to k modulo m meet.

    The circle has m places: for all bots, or for all but the last if `size` is even. The distance along the circle from
    a bot to its opponent grows by one each round, and the bot with the odd distance moves first, so its first moves
    alternate. The bot off the circle meets the one that would meet itself; its first moves alternate by rounds.

    It takes up to 2 MB, the same for all contests of that size.
    """
    turning = size if size % 2 else size - 1
    cycle = Cycle(array("i"), array("i"), array("i", [-1]) * size**2)
    for k in cooperatively(range(turning)):
        for i in range(turning):
            j = (k - i) % turning
            if (j - i) % turning % 2:
                _meet(cycle, size, i, j)
            elif i == j and turning < size:
                _meet(cycle, size, *((i, size - 1) if k % 2 else (size - 1, i)))
    return cycle


def _meet(cycle: Cycle, size: int, first: int, other: int) -> None:
    cycle.pairs[first * size + other] = cycle.pairs[other * size + first] = len(cycle.firsts)
    cycle.firsts.append(first)
    cycle.others.append(other)
