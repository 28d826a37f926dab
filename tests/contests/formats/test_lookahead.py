"""Swiss rounds are chosen with a view to those after them: the pairs that are left must suffice for those."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest
from playing import Playing, contest, results
from thorough import seeds

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import pair_of

FORM = format_named("swiss")


@pytest.mark.parametrize(
    ("size", "meetings", "rounds"),
    [(4, 1, 3), (5, 1, 5), (6, 1, 4), (6, 1, 5), (6, 2, 10), (7, 1, 7), (8, 1, 7), (9, 1, 9), (10, 1, 9), (16, 1, 15)],
)
def test_no_round_takes_the_pairs_that_a_later_one_needs(size: int, meetings: int, rounds: int) -> None:
    """Each is full, to the last that there can be; of an odd field each bot has one bye at most."""
    for seed in seeds(10):
        end = Playing(FORM, contest(FORM, size, meetings, {"rounds": rounds}), random.Random(seed)).to_the_end()
        assert Counter(met.round for met in end.met) == dict.fromkeys(range(1, rounds + 1), size // 2)
        assert len(FORM.byes(end)) == (rounds if size % 2 else 0)


@pytest.mark.parametrize("size", [33, 40])
def test_a_large_field_needs_no_view_to_as_many_rounds_as_half_of_it(size: int) -> None:
    """Whatever is paired before, each bot is left with half of the field."""
    end = Playing(FORM, contest(FORM, size, 1, {"rounds": size // 2}), random.Random(size)).to_the_end()
    assert Counter(met.round for met in end.met) == dict.fromkeys(range(1, size // 2 + 1), size // 2)


def test_a_round_begun_without_a_view_to_the_next_goes_on() -> None:
    """a meets e, b meets f and c meets d would leave two triangles for round 4: so some other pairs, unless it must."""
    rows = [("ad+ be- cf-", 1), ("db+ fa+ ec=", 2), ("ae? cd?", 3)]
    *before, begun = [results(text, number) for text, number in rows]
    now = replace(contest(FORM, 6, 1), met=tuple(chain(*before)))
    assert {"".join(pair_of(*one.bots)) for one in FORM.due(now)} != {"ae", "bf", "cd"}
    assert [one.bots for one in FORM.due(replace(now, met=(*now.met, *begun)))] == [("b", "f")]
