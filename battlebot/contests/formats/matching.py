"""Pairs a round of a Swiss contest by minimum-cost matching in a graph. The costs only; rounds are in `swiss`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from operator import mul
from typing import NamedTuple

from battlebot.contests.formats.lookahead import Pair, Search, greatest, less

MANY = 128  # entrants: the library pairs a round of so many or more in one piece, which takes up to seconds
MOST_AHEAD = 32  # entrants: in larger fields no round is chosen with a view to those after it
MANY_AHEAD = 8  # entrants: with so many or more, a round of a contest that needs that view may take as long
UNMET = (0, None)  # how often two bots have met that have not, and who moves first then: it depends
BALANCE = 2  # first minus second moves may be off by this much either way; beyond it, balance outranks scores


class Entrant(NamedTuple):
    """A bot before the round: its score, its first minus its second moves, whether it has sat out before."""

    score: int
    balance: int
    sat_out: bool


class Costs(NamedTuple):
    """The costs of a pair, or of sitting out. Lexicographic: each decides only between pairings equal in all before."""

    sat_out: int = 0  # sits out, and has done so before
    rematches: int = 0  # how often the two have met
    strain: int = 0  # by how much the two balances would exceed BALANCE
    high_out: int = 0  # sitting out: number of score groups below its own
    distance: int = 0  # between the two score groups, squared
    fold: int = 0  # off from top half against bottom half of the group; sitting out: bots below it in its group
    clash: int = 0  # both have moved first too often, or both too seldom


def takes_long(size: int, rounds: int) -> bool:
    """Whether pairing one of the rounds of so many bots may take a tenth of a second or longer in one piece."""
    return size >= (MANY_AHEAD if size // 2 < rounds and size <= MOST_AHEAD else MANY)


@lru_cache(maxsize=64)
def matching(
    entrants: tuple[Entrant, ...], met: tuple[tuple[int, int, int, int], ...], cap: int, ahead: int = 0
) -> tuple[tuple[int, int], ...]:
    """The pairs of the round as indices into `entrants` (in seeding order), lower index first; best scores first.

    `met`: `(i, j, how often, who moves first next)` for i < j. Makes as many pairs as possible with no two bots meeting
    more than `cap` times in all, and among such pairings picks one of minimum cost that leaves enough pairs for the
    rounds to follow, `ahead` in number; with more than MOST_AHEAD entrants, whatever it leaves.
    """
    before = {(i, j): (times, first) for i, j, times, first in met}
    ranks = _Ranks(entrants)
    units = _units(ranks.dearest(max((times for times, _ in before.values()), default=0)))
    outs = [_price(ranks.sitting_out(i), units) for i in range(len(entrants))]
    left = {two: cap - before.get(two, UNMET)[0] for two in combinations(range(len(entrants)), 2)}
    room = {two: times for two, times in left.items() if times > 0}
    # what a pair saves by its bots not sitting out
    weights = {
        (i, j): outs[i] + outs[j] - _price(ranks.meeting(i, j, *before.get((i, j), UNMET)), units) for i, j in room
    }
    pairs: Sequence[Pair] = greatest(len(entrants), weights)
    if ahead and 1 < len(entrants) <= MOST_AHEAD:
        pairs = _lasting(entrants, pairs, weights, room, ahead)
    return tuple(sorted(pairs, key=lambda two: min(ranks.place[two[0]], ranks.place[two[1]])))


def _lasting(
    entrants: Sequence[Entrant],
    pairs: Sequence[Pair],
    weights: Mapping[Pair, int],
    room: Mapping[Pair, int],
    ahead: int,
) -> Sequence[Pair]:
    """The pairing of greatest weight after which the rounds ahead can be full, or else at least the next one.

    `pairs`, the one of greatest weight, if none is found, or if it already takes a second bye.
    """
    bye = len(entrants)
    out = [i for i in range(bye) if not any(i in two for two in pairs)]
    if len(out) > 1 or any(entrants[i].sat_out for i in out):
        return pairs
    if out:  # the bye is one more place, which each meets at most once
        byes = [(i, bye) for i, entrant in enumerate(entrants) if not entrant.sat_out]
        weights, room = {**weights, **dict.fromkeys(byes, 0)}, {**room, **dict.fromkeys(byes, 1)}
    size = bye + len(out)
    first = (*pairs, *((i, bye) for i in out))
    most = min(ahead, *(sum(times for two, times in room.items() if place in two) - 1 for place in range(size)))
    for rounds in sorted({most, min(most, 1)}, reverse=True):
        for full in chain([first], Search(size).full_rounds(weights)):
            if Search(size).holds(less(room, full), rounds):
                return [two for two in full if bye not in two]
    return pairs


class _Ranks:
    """Places and score groups before the round, and the resulting costs of a pair or of sitting out."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self.entrants = entrants
        order = sorted(range(len(entrants)), key=lambda index: (-entrants[index].score, index))
        self.place = {index: place for place, index in enumerate(order)}
        self.size = Counter(entrant.score for entrant in entrants)
        self.group = {score: number for number, score in enumerate(sorted(self.size, reverse=True))}
        # the place of the last of each score's group
        self.last = {entrants[index].score: place for place, index in enumerate(order)}

    def dearest(self, times: int) -> Costs:
        """An upper bound for the sum of each cost over a pairing, if no pair has met more than `times` times."""
        size, groups = len(self.entrants), len(self.group)
        balance = 1 + max((abs(entrant.balance) for entrant in self.entrants), default=0)
        return Costs(
            *(size * most for most in (1, times, balance, groups, groups**2, max(self.size.values(), default=0), 1))
        )

    def sitting_out(self, i: int) -> Costs:
        """The costs of sitting out."""
        entrant = self.entrants[i]
        return Costs(
            sat_out=int(entrant.sat_out),
            high_out=len(self.group) - 1 - self.group[entrant.score],
            fold=self.last[entrant.score] - self.place[i],
        )

    def meeting(self, i: int, j: int, times: int, first: int | None) -> Costs:
        """The costs of a pair that has met `times` times. `first`: who moves first; None: who has the lower balance."""
        one, other = self.entrants[i], self.entrants[j]
        apart = abs(self.place[i] - self.place[j])
        begins = one.balance <= other.balance if first is None else first == i
        strain = _strain(one.balance, other.balance) if begins else _strain(other.balance, one.balance)
        return Costs(
            rematches=times,
            strain=strain,
            distance=(self.group[one.score] - self.group[other.score]) ** 2,
            fold=abs(2 * apart - self.size[one.score]) if one.score == other.score else 0,
            clash=int(one.balance * other.balance > 0),
        )


def _strain(first: int, second: int) -> int:
    """The strain of two balances, if the bot with the first one moves first."""
    return max(0, abs(first + 1) - BALANCE) + max(0, abs(second - 1) - BALANCE)


def _units(dearest: Costs) -> Costs:
    """The weight of each cost, such that no sum of lesser costs reaches one unit of the next greater cost.

    The matching computes with 128-bit integers, which suffice for 1,000 bots with any scores.
    """
    units, unit = [], 1
    for most in reversed(dearest):
        units.append(unit)
        unit *= 1 + most
    return Costs(*reversed(units))


def _price(costs: Costs, units: Costs) -> int:
    return sum(map(mul, costs, units))
