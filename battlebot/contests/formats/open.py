"""Open, the originals' format: waiting bots meet, each pair at most `meetings` times; bots come and go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.record import Pairing, Record, Waiter
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Situation


class Open(Format):
    """Pairs the waiting bots that have met least; needs no list of entrants."""

    NAME = "open"
    CLOSED = False
    TOGETHER = False

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """It has no settings. Raises Refused."""
        check_fields(given, (), entrants)
        return {}

    def due(self, situation: Situation) -> list[Due]:
        """The next meeting of every pair that may still meet, fewest meetings first; quadratic in the bots."""
        record = _record(situation)
        present = [bot for bot in situation.entrants if bot not in situation.withdrawn]
        left = [pair for pair in combinations(present, 2) if record.met(*pair) < situation.meetings]
        return [_next(record, *pair) for pair in sorted(left, key=lambda pair: record.met(*pair))]

    def pair(self, situation: Situation, waiting: Sequence[Waiter]) -> list[Pairing]:
        """Pairs the longest-waiting bot first, with the bot that it has met least; among those, the longest-waiting.

        Makes an immediate rematch only if no other bot waits that it may meet. The running time grows with the number
        of waiters and of pairs that have met, not with the number of pairs of waiters.
        """
        record, waiting = _record(situation), [waiter for waiter in waiting if waiter.bot not in situation.withdrawn]
        pairings = []
        line = _LinkedNumbers(len(waiting))
        for index, waiter in enumerate(waiting):
            if index not in line:
                continue
            line.leave(index)
            found = _best(waiter.bot, line, waiting, record, situation)
            if found is None:
                continue
            line.leave(found)
            opponent = waiting[found]
            meeting = _next(record, waiter.bot, opponent.bot)
            record.add(meeting.first, meeting.second, meeting.n)
            begins, follows = (waiter, opponent) if meeting.first == waiter.bot else (opponent, waiter)
            pairings.append(Pairing(begins, follows, meeting.n))
        return pairings

    def complete(self, situation: Situation) -> bool:
        """Always False: new bots may come."""
        return False

    def planned(self, situation: Situation) -> int | None:
        """Always None: new bots may come."""
        return None


def _record(situation: Situation) -> Record:
    met = ((met.first, met.second, met.n) for met in situation.met)
    record = Record.of(met, ((void.first, void.second, void.n) for void in situation.void))
    record.lead.update(situation.leads)
    return record


def _next(record: Record, a: str, b: str) -> Due:
    n = record.next_number(a, b)
    first = record.first_mover(a, b, n)
    return Due(0, n, first, b if first == a else a)


def _best(
    bot: str, line: _LinkedNumbers, waiting: Sequence[Waiter], record: Record, situation: Situation
) -> int | None:
    """The index of the best opponent, or None.

    Stops at the first one that the bot has never met, so it passes only bots that it has met, and its own tickets.
    """
    met_by_bot = record.numbers.get(bot, {})
    last = record.last.get(bot)
    best, best_key = None, (True, situation.meetings)
    for index in line:
        other = waiting[index].bot
        if other == bot or situation.rests((bot, other)):
            continue
        between = met_by_bot.get(other)
        if between is None:
            return index
        met = len(between)
        if met < situation.meetings:
            key = (other == last and record.last.get(other) == bot, met)
            if key < best_key:
                best, best_key = index, key
    return best


class _LinkedNumbers:
    """The numbers 0 to size - 1 as a linked list: removal takes one step, and iteration skips removed numbers."""

    def __init__(self, size: int) -> None:
        # shifted by one: 0 and size + 1 are the ends
        self._after = list(range(1, size + 3))
        self._before = list(range(-1, size + 1))
        self._end = size + 1

    def __contains__(self, index: int) -> bool:
        return self._after[self._before[index + 1]] == index + 1

    def __iter__(self) -> Iterator[int]:
        place = self._after[0]
        while place != self._end:
            yield place - 1
            place = self._after[place]

    def leave(self, index: int) -> None:
        """Removes a number, which must be in the line."""
        before, after = self._before[index + 1], self._after[index + 1]
        self._after[before], self._before[after] = after, before
