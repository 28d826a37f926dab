"""Whether rounds that are to come can still be full, in a field in which each pair may meet only so often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

import rustworkx

Pair = tuple[int, int]  # the lower index first
Round = tuple[Pair, ...]
# the rounds that share some pairs: minus the greatest sum, its round, how many of its pairs they share, weights
Part = tuple[int, Round, int, Mapping[Pair, int]]

LOOKS = 100  # at graphs, each of which gives one round or none; a search finds no more after those


class Search:
    """Finds full rounds of `size` places, an even number, which all meet in pairs; of an odd field, one is the bye."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.looks = LOOKS

    def holds(self, room: Mapping[Pair, int], rounds: int) -> bool:
        """Whether so many full rounds are found, one after the other, if pairs may meet as often as `room` says."""
        if is_ample(self.size, room, rounds):
            return True
        return any(self.holds(less(room, full), rounds - 1) for full in self.full_rounds(room))

    def full_rounds(self, weights: Mapping[Pair, int]) -> Iterator[Round]:
        """The rounds in which every place meets another, of these pairs, the greatest sum of weights first.

        K. G. Murty, An algorithm for ranking all the assignments in order of increasing cost (1968): the rounds other
        than the greatest are split by the first of its pairs that they lack; then each part likewise.
        """
        parts: list[Part] = []
        self._add(parts, (), weights)
        while parts:
            _, full, fixed, allowed = heappop(parts)
            yield full
            for number in range(fixed, len(full)):
                others = {pair: weight for pair, weight in allowed.items() if pair != full[number]}
                self._add(parts, full[:number], others)

    def _add(self, parts: list[Part], fixed: Round, allowed: Mapping[Pair, int]) -> None:
        """Adds the part of the rounds that have the pairs `fixed` and other pairs that are `allowed`, if it has any."""
        if self.looks <= 0:
            return
        self.looks -= 1
        taken = {place for pair in fixed for place in pair}
        full = (*fixed, *greatest(self.size, {two: one for two, one in allowed.items() if taken.isdisjoint(two)}))
        if len(full) * 2 == self.size:
            heappush(parts, (-sum(allowed[pair] for pair in full), full, len(fixed), allowed))


def greatest(size: int, weights: Mapping[Pair, int]) -> list[Pair]:
    """As many of these pairs as there can be with no place in two of them, with the greatest sum of weights."""
    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    graph.add_edges_from([(*two, weight) for two, weight in weights.items()])
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(two), max(two)) for two in pairs)


def is_ample(size: int, room: Mapping[Pair, int], rounds: int) -> bool:
    """Whether so many full rounds are left however they are chosen.

    Dirac: there is one if each place has at least half of all places to meet. Each round takes one of them at most.
    """
    opponents = Counter(place for pair in room for place in pair)
    return rounds <= 0 or min(opponents[place] for place in range(size)) - (rounds - 1) >= size / 2


def less(room: Mapping[Pair, int], full: Round) -> dict[Pair, int]:
    """The room that is left after the round."""
    played = set(full)
    left = {pair: times - (pair in played) for pair, times in room.items()}
    return {pair: times for pair, times in left.items() if times}
