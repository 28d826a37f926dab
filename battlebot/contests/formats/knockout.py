"""Knockout: a seeded bracket of best-of-n pairs; the loser of a pair is out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.record import pair_of
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Met, Situation
from battlebot.errors import Refused
from battlebot.runtime.cooperative import cooperatively


class Knockout(Format):
    """The pairs of a bracket as they become known, each decided by its meetings."""

    NAME = "knockout"
    CLOSED = True
    TOGETHER = False
    NAMES_WINNER = True

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """It has no settings; `meetings` is the n of best of n, and must be odd. Raises Refused."""
        check_fields(given, (), entrants)
        if meetings % 2 == 0:
            raise Refused(f"A knockout is best of an odd number of meetings, not of {meetings}.", field="meetings")
        return {}

    def due(self, situation: Situation) -> list[Due]:
        """The next meeting of each pair that is known, undecided and not playing; earlier rounds first.

        First moves alternate within a pair; the higher seed begins.
        """
        found = []
        record = _by_pair(situation)
        for pair in cooperatively(bracket(situation)):
            met = record[pair_of(pair.higher, pair.lower)]
            if pair.winner is None and all(one.state != "open" for one in met):
                numbers = {one.n for one in met}
                n = next(n for n in range(1, situation.meetings + 1) if n not in numbers)
                two = (pair.higher, pair.lower) if n % 2 else (pair.lower, pair.higher)
                found.append(Due(pair.round, n, *two))
        return found

    def complete(self, situation: Situation) -> bool:
        """Whether the last pair is decided and nothing is open."""
        decided = len(situation.entrants) < 2 or self.winner(situation) is not None
        return decided and all(met.state != "open" for met in situation.met)

    def planned(self, situation: Situation) -> int | None:
        """None until it is complete: how many meetings a pair needs depends on their results."""
        return len(situation.met) if self.complete(situation) else None

    def winner(self, situation: Situation) -> str | None:
        """Who won the contest; None while undecided, or if nobody entered."""
        if len(situation.entrants) < 2:
            return next(iter(situation.entrants), None)
        last = bracket(situation)[-1]
        return last.winner if 2**last.round >= len(situation.entrants) else None

    def built_upon(self, situation: Situation, met: Met) -> bool:
        """Whether one of its bots has begun a later round: then the pair stays decided, whatever happens to `met`."""
        two = {met.first, met.second}
        return any(one.round > met.round and not two.isdisjoint((one.first, one.second)) for one in situation.met)

    def may_meet(self, situation: Situation) -> Callable[[str, str], bool]:
        """Whether neither of the two is out; a bot that is out has no more meetings."""
        out = knocked_out(situation)
        return lambda a, b: a not in out and b not in out

    def has_more(self, situation: Situation, bot: str) -> bool | None:
        """Whether nobody has won yet and the bot is not out: it waits for its next opponent."""
        return self.winner(situation) is None and bot not in knocked_out(situation)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bots that meet in a round of the bracket, the higher seed first; `winner` is None while undecided."""

    round: int
    higher: str
    lower: str
    winner: str | None


def knocked_out(situation: Situation) -> dict[str, int]:
    """Bot -> the round in which it was knocked out, for the bots that are out."""
    decided = [pair for pair in bracket(situation) if pair.winner is not None]
    return {pair.lower if pair.winner == pair.higher else pair.higher: pair.round for pair in decided}


def bracket(situation: Situation) -> list[Pair]:
    """The pairs known so far, of all rounds, in the order of rounds and of the bracket.

    If the number of entrants is not a power of two, the highest seeds skip the first round.
    """
    seed = {bot: index for index, bot in enumerate(situation.entrants)}
    record = _by_pair(situation)
    reached: dict[str, int] = defaultdict(int)
    for met in situation.met:
        for bot in (met.first, met.second):
            reached[bot] = max(reached[bot], met.round)
    pairs = []
    level: list[str | None] = [situation.entrants[at] if at < len(seed) else None for at in _slots(len(seed))]
    number = 1
    while len(level) > 1:
        above: list[str | None] = []
        for a, b in cooperatively(zip(level[::2], level[1::2], strict=True)):
            if a is None or b is None:
                # in the first round a bot without an opponent goes on, later it waits for one
                above.append((a or b) if number == 1 else None)
                continue
            higher, lower = (a, b) if seed[a] < seed[b] else (b, a)
            goes_on = _goes_on(situation, record[pair_of(a, b)], higher, lower)
            if max(reached[a], reached[b]) > number:
                goes_on = a if reached[a] > number else b
            pairs.append(Pair(number, higher, lower, goes_on))
            above.append(goes_on)
        level, number = above, number + 1
    return pairs


def _goes_on(situation: Situation, met: Sequence[Met], higher: str, lower: str) -> str | None:
    """Who advances, by the meetings of the two and withdrawals; None while undecided."""
    over = [one.victor for one in met if one.state != "open"]
    wins, losses = over.count(higher), over.count(lower)
    if max(wins, losses) > situation.meetings // 2 or len(over) >= situation.meetings:
        return higher if wins >= losses else lower
    if len(over) < len(met):
        return None
    if lower in situation.withdrawn:
        return higher
    return lower if higher in situation.withdrawn else None


def _by_pair(situation: Situation) -> dict[tuple[str, str], list[Met]]:
    found: dict[tuple[str, str], list[Met]] = defaultdict(list)
    for met in situation.met:
        found[pair_of(met.first, met.second)].append(met)
    return found


def _slots(size: int) -> list[int]:
    """The seeds (from 0) in bracket order, a power of two of them. The top two can only meet in the last round."""
    slots = [0]
    while len(slots) < size:
        slots = [slot for high in slots for slot in (high, 2 * len(slots) - 1 - high)]
    return slots
