"""The ranking from counts: the same, for any results, as the one from the results themselves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import pytest
from cpu import least_cpu_s
from tiebreaks import Result, counts, table

from battlebot.contests import standings
from battlebot.contests.standings import HEAD_TO_HEADS, Against, against_each, ranking, ranking_by

POINTS = [(3, 1, 0), (2, 1, 0), (1, 0, 0), (3, 3, 3)]


def results_of(dice: random.Random, bots: Sequence[str]) -> list[Result]:
    """What may come out, few kinds of it, so that many are level."""
    found = []
    for a, b in combinations(bots, 2):
        for _ in range(dice.randrange(3)):
            absent = dice.random() < 0.2
            found.append(Result(a, b, dice.choice([a, b, None]), absent))
    return found


@pytest.mark.parametrize("everybody", [0, 100])
@pytest.mark.parametrize("seed", range(150))
def test_counts_rank_as_results_do(seed: int, everybody: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks, order, scores, tie-breaks; where the contest is large, Sonneborn-Berger of the level ones alone."""
    monkeypatch.setattr(standings, "EVERYBODY", everybody)
    dice = random.Random(seed)
    bots = [f"b{n}" for n in range(dice.randrange(9))]
    results, points = results_of(dice, bots), dice.choice(POINTS)
    byes = {bot: 1 for bot in bots if dice.random() < 0.2}
    rows, pairs = counts(results)
    asked: list[str] = []

    def of(chosen: Sequence[str]) -> Mapping[str, Against]:
        asked.extend(chosen)
        return against_each(chosen, [pair for pair in pairs if pair["bot_id"] in chosen])

    made, right = ranking(bots, rows, of, points, byes), table(bots, results, points, byes)
    for ours, theirs in zip(made, right, strict=True):
        if ours["tieBreaks"]["sonnebornBerger"] is None:
            assert ours["bot_id"] not in asked
            ours["tieBreaks"]["sonnebornBerger"] = theirs["tieBreaks"]["sonnebornBerger"]
        assert ours == theirs
    assert len(set(asked)) == len(asked)


def rank_newcomers(bots: int) -> None:
    """Ranks bots that have logged in, and played nobody."""
    assert len(ranking([f"b{n}" for n in range(bots)], [], lambda _: {}, (3, 1, 0), {})) == bots


def test_ten_times_as_many_level_bots_take_about_ten_times_as_long() -> None:
    """A contest that a login opened runs for ever: with 50,000 bots its page kept a node from all else for 18 s."""
    few_s, many_s = (least_cpu_s(lambda bots=bots: rank_newcomers(bots), times=3) for bots in (3000, 30_000))
    assert many_s < 30 * few_s


def test_of_many_bots_each_of_whom_beat_the_next_those_in_the_middle_share_a_rank() -> None:
    """They would part two by two, and each would be told as often how it stood: in all, for ever."""
    bots = [f"b{n:04}" for n in range(3000)]
    rows, pairs = counts([Result(a, b, a) for a, b in pairwise(bots)])
    ranked = ranking(bots, rows, lambda _: against_each(bots, pairs), (1, 0, 1), {})
    assert max(len(row["tieBreaks"]["headToHead"]) for row in ranked) == HEAD_TO_HEADS
    assert max(Counter(row["rank"] for row in ranked).values()) > 2900


def test_a_pair_that_was_taken_back_counts_nothing() -> None:
    """Its row of zeroes stays behind in the storage."""
    rows = [{"bot_id": bot, "played": 0, "wins": 0, "draws": 0, "losses": 0} for bot in ("b", "a")]
    zeroes = [{"bot_id": "a", "opponent": "b", "wins": 0, "draws": 0, "losses": 0}]
    ranked = ranking([], rows, lambda bots: against_each(bots, zeroes), (3, 1, 0), {})
    assert [(row["rank"], row["bot_id"], row["absent"]) for row in ranked] == [
        (1, "a", 0),
        (1, "b", 0),
    ]


def test_a_ranking_by_merit_asks_nothing_else() -> None:
    """Equal merits share a rank, by name; who has no row yet has nothing; `score` is the number of wins."""
    rows = [
        {"bot_id": "d", "wins": 2, "draws": 0, "losses": 3, "played": 5, "scored": 40},
        {"bot_id": "b", "wins": 2, "draws": 3, "losses": 0, "played": 5, "scored": 40},
        {"bot_id": "a", "wins": 2, "draws": 0, "losses": 3, "played": 5, "scored": 41},
    ]
    found = ranking_by(lambda row: (row["wins"], row["scored"]), ["c", "d"], rows)
    expected = [(1, "a", 2, 41), (2, "b", 2, 40), (2, "d", 2, 40), (4, "c", 0, 0)]
    assert [(row["rank"], row["bot_id"], row["score"], row["scored"]) for row in found] == expected


@pytest.mark.parametrize("entrants", [[], ["a"], ["b", "a"]])
def test_before_anybody_has_won_all_are_first(entrants: Sequence[str]) -> None:
    """By their names."""
    found = ranking_by(lambda row: row["wins"], entrants, [])
    assert [(row["rank"], row["bot_id"]) for row in found] == [(1, bot) for bot in sorted(entrants)]
