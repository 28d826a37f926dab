"""Swiss contests of so few bots that they meet again: who moves first then is known, and counts in the pairing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playing import contest, first_moves
from thorough import seeds

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import pair_of
from battlebot.contests.formats.situation import Met, Situation

FORM = format_named("swiss")


def all_pairings(bots: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    """Every way to pair all of an even number of bots."""
    if not bots:
        yield []
    for other in bots[1:]:
        rest = tuple(bot for bot in bots[1:] if bot != other)
        yield from ([(bots[0], other), *pairs] for pairs in all_pairings(rest))


def cost(now: Situation, pairs: list[tuple[str, str]]) -> tuple[int, int]:
    """How often they have met, and by how much their balances would exceed two; first moves alternate in a pair."""
    balance, rematches, excess = first_moves(now), 0, 0
    for two in pairs:
        firsts = [met.first for met in now.met if pair_of(met.first, met.second) == two]
        first = min(two, key=lambda bot: balance.get(bot, 0))
        if firsts:
            first = next(bot for bot in two if bot != firsts[-1])
        rematches += len(firsts)
        excess += sum(max(0, abs(balance.get(bot, 0) + (1 if bot == first else -1)) - 2) for bot in two)
    return rematches, excess


@pytest.mark.parametrize(("size", "rounds"), [(4, 6), (6, 8), (8, 7)])
def test_no_pairing_with_as_few_rematches_has_first_moves_less_uneven(size: int, rounds: int) -> None:
    """Whoever has the lower balance does not move first if it did so in the pair's last meeting."""
    for seed in seeds(10):
        dice, now = random.Random(seed), contest(FORM, size, 5, {"rounds": rounds})
        while due := FORM.due(now):
            pairs = [pair_of(one.first, one.second) for one in due]
            assert cost(now, pairs) == min(cost(now, others) for others in all_pairings(now.entrants))
            results = [Met(one.round, one.n, *one.bots, "played", dice.choice([*one.bots, None])) for one in due]
            now = replace(now, met=(*now.met, *results))
