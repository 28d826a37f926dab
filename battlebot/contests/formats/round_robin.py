"""Round-robin: everyone on the list meets everyone `meetings` times, in rounds by the circle method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Situation
from battlebot.errors import Refused
from battlebot.runtime.cooperative import cooperatively

# 200 bots, five meetings a pair: web nodes make the schedule too, which takes a fifth of a second and 25 MB
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
        for pairs in cooperatively(schedule.of_bot.values()):
            found.update(sorted([left[pair] for pair in pairs if pair in left])[:reach])
        found.difference_update(left[pair] for pair in busy if pair in left)
        return [schedule.meetings[place] for place in sorted(found)]

    def complete(self, situation: Situation) -> bool:
        """Whether every pair of bots that stayed has met `meetings` times, and nothing is open."""
        _, left, busy = _standing(situation)
        return not left and not busy

    def settled(self, situation: Situation) -> int:
        """The last round up to which all is over, except for withdrawn bots; the last of all if nothing is left."""
        schedule, left, _ = _standing(situation)
        if left:
            return schedule.meetings[min(left.values())].round - 1
        return schedule.meetings[-1].round if schedule.meetings else 0

    def planned(self, situation: Situation) -> int | None:
        """The whole schedule, without what withdrawn bots left unplayed; `met` must have all of their meetings."""
        staying = sum(bot not in situation.withdrawn for bot in situation.entrants)
        of_the_gone = sum(not situation.withdrawn.isdisjoint((met.first, met.second)) for met in situation.met)
        return situation.meetings * staying * (staying - 1) // 2 + of_the_gone


class Schedule(NamedTuple):
    """All meetings in the order of rounds, and the place of each pair's n-th meeting among them.

    `pairs`: two bots in either order -> index of the pair; `places`: that index -> places in `meetings`, by n - 1;
    `of_bot`: bot -> the indices of its pairs.
    """

    meetings: tuple[Due, ...]
    pairs: dict[tuple[str, str], int]
    places: list[list[int]]
    of_bot: dict[str, list[int]]


def _standing(situation: Situation) -> tuple[Schedule, dict[int, int], set[int]]:
    """The schedule; pairs of bots that stayed -> place of their first unfinished meeting; pairs that play now."""
    schedule = schedule_of(situation.entrants, situation.meetings)
    over = _over_by(situation.settled, len(situation.entrants))
    pairs, busy = schedule.pairs, set()
    for met in situation.met:
        pair = pairs[met.first, met.second]
        if met.state == "open":
            busy.add(pair)
        else:
            over[pair] |= 1 << (met.n - 1)
    whole = (1 << situation.meetings) - 1
    away = {pair for bot in situation.withdrawn for pair in schedule.of_bot.get(bot, ())}
    left = {
        pair: schedule.places[pair][_lowest_missing(mask)]
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
def schedule_of(entrants: tuple[str, ...], meetings: int) -> Schedule:
    """The schedule: `meetings` cycles of rounds, in each of which every pair meets once.

    First moves alternate within a pair. Every bot's first and second moves differ by at most one, per cycle and in all.
    """
    cycle = _cycle(len(entrants))
    all_due: list[Due] = []
    pairs: dict[tuple[str, str], int] = {}
    places: list[list[int]] = []
    of_bot: dict[str, list[int]] = {bot: [] for bot in entrants}
    for n in range(1, meetings + 1):
        for number, games in enumerate(cooperatively(cycle), start=1 + (n - 1) * len(cycle)):
            for i, j in games:
                a, b = entrants[i], entrants[j]
                if n == 1:
                    pairs[a, b] = pairs[b, a] = len(places)
                    of_bot[a].append(len(places))
                    of_bot[b].append(len(places))
                    places.append([])
                places[pairs[a, b]].append(len(all_due))
                all_due.append(Due(number, n, a, b) if n % 2 else Due(number, n, b, a))
    return Schedule(tuple(all_due), pairs, places, of_bot)


def _cycle(size: int) -> list[list[tuple[int, int]]]:
    """Rounds of `(first mover, other)` by the circle method: in round k, places that add up to k modulo m meet.

    The circle has m places: for all bots, or for all but the last if `size` is even. The distance along the circle from
    a bot to its opponent grows by one each round, and the bot with the odd distance moves first, so its first moves
    alternate. The bot off the circle meets the one that would meet itself; its first moves alternate by rounds.
    """
    turning = size if size % 2 else size - 1
    rounds = []
    for k in cooperatively(range(turning)):
        games = []
        for i in range(turning):
            j = (k - i) % turning
            if (j - i) % turning % 2:
                games.append((i, j))
            elif i == j and turning < size:
                games.append((i, size - 1) if k % 2 else (size - 1, i))
        rounds.append(games)
    return rounds
