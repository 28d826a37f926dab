"""The pairing of a Swiss round against all pairings that there are, cost by cost."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from battlebot.contests.formats.matching import Entrant, _Ranks, _units, matching

Pairs = tuple[tuple[int, int], ...]


def all_pairings(entrants: tuple[int, ...]) -> Iterator[Pairs]:
    """Every way to pair some of the entrants."""
    if not entrants:
        yield ()
        return
    one, others = entrants[0], entrants[1:]
    yield from all_pairings(others)
    for other in others:
        rest = tuple(entrant for entrant in others if entrant != other)
        yield from (((one, other), *pairs) for pairs in all_pairings(rest))


def cost(
    entrants: tuple[Entrant, ...], often: dict[tuple[int, int], int], firsts: dict[tuple[int, int], int], pairs: Pairs
) -> tuple[int, ...]:
    """The costs of a pairing in their order, as docs/contests.md has them. `firsts`: who moves first in a rematch."""
    sitting_out = set(range(len(entrants))) - {entrant for pair in pairs for entrant in pair}
    scores = sorted({entrant.score for entrant in entrants})
    balances = []
    for pair in pairs:
        first, second = sorted(pair, key=lambda entrant: entrants[entrant].balance)
        if firsts.get(pair, first) != first:
            first, second = second, first
        balances += [entrants[first].balance + 1, entrants[second].balance - 1]
    return (
        -len(pairs),
        sum(entrants[entrant].sat_out for entrant in sitting_out),
        sum(often.get(pair, 0) for pair in pairs),
        sum(max(0, abs(balance) - 2) for balance in balances),
        sum(scores.index(entrants[entrant].score) for entrant in sitting_out),
        sum((scores.index(entrants[one].score) - scores.index(entrants[other].score)) ** 2 for one, other in pairs),
    )


@pytest.mark.parametrize("size", range(8))
def test_no_pairing_costs_less(size: int) -> None:
    """Random scores, balances, byes, and pairs that have met, some as often as they may."""
    for seed in range(60):
        dice = random.Random(seed)
        entrants = tuple(Entrant(dice.randint(0, 4), dice.randint(-3, 3), dice.random() < 0.3) for _ in range(size))
        often = {(i, j): dice.randint(1, 2) for j in range(size) for i in range(j) if dice.random() < 0.5}
        firsts = {pair: dice.choice(pair) for pair in sorted(often)}
        found = matching(entrants, tuple((*pair, often[pair], firsts[pair]) for pair in firsts), 2)
        assert all(often.get(pair, 0) < 2 for pair in found)
        allowed = [pairs for pairs in all_pairings(tuple(range(size))) if all(often.get(pair, 0) < 2 for pair in pairs)]
        least = min(cost(entrants, often, firsts, pairs) for pairs in allowed)
        assert cost(entrants, often, firsts, found) == least


def entrants(*scores: int) -> tuple[Entrant, ...]:
    """Bots of these scores that have no other past."""
    return tuple(Entrant(score, 0, False) for score in scores)


def test_within_a_score_the_upper_half_meets_the_lower() -> None:
    """By the order of seeding; better scores come first in the answer."""
    assert matching(entrants(0, 0, 3, 3, 3, 3, 0, 0), (), 1) == ((2, 4), (3, 5), (0, 6), (1, 7))


def test_who_sits_out_is_the_last_of_the_lowest_score() -> None:
    """Of three with no points the last seed; had it done so before, the next."""
    assert matching(entrants(0, 3, 0, 3, 0), (), 1) == ((1, 3), (0, 2))
    before = (*entrants(0, 3, 0, 3), Entrant(0, 0, True))
    assert {2} == set(range(5)) - {entrant for pair in matching(before, (), 1) for entrant in pair}


def test_of_equal_pairings_one_that_lets_each_have_its_first_move() -> None:
    """Two that moved first and two that moved second, all level and without a better fold."""
    moved = (Entrant(0, 1, False), Entrant(0, 1, False), Entrant(0, -1, False), Entrant(0, -1, False))
    assert matching(moved, (), 1) == ((0, 2), (1, 3))
    assert matching(moved, ((0, 2, 1, 2), (1, 3, 1, 3)), 2) == ((0, 3), (1, 2))


@pytest.mark.parametrize("seed", range(60))
def test_no_pairing_costs_more_than_its_units_allow(seed: int) -> None:
    """Also one of the best with the last, or none at all: a lesser cost must never add up to one of a greater."""
    dice = random.Random(seed)
    size, highest, worst, times = dice.randint(1, 30), dice.choice([0, 3, 1000]), dice.randint(0, 5), dice.randint(0, 4)
    many = tuple(Entrant(dice.randint(0, highest), dice.choice([0, worst, worst]), True) for _ in range(size))
    ranks = _Ranks(many)
    best_first = sorted(range(size), key=ranks.place.__getitem__)
    paired = dice.choice([0, size // 2])
    costs = [
        ranks.meeting(best_first[i], best_first[-1 - i], times, dice.choice([None, best_first[i]]))
        for i in range(paired)
    ]
    costs += [ranks.sitting_out(i) for i in best_first[paired : size - paired]]
    assert all(sum(each) <= most for *each, most in zip(*costs, ranks.dearest(times), strict=True))


def test_a_thousand_bots_of_any_scores_do_not_exceed_what_the_matching_calculates_with() -> None:
    """The costs of the largest contest fit 128 bits: a sum that did not would raise."""
    many = tuple(Entrant(score, 20, False) for score in range(1_000))
    ranks = _Ranks(many)
    units = _units(ranks.dearest(4))
    assert units[0] * 1_000 < 2**126
