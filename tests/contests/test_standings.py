"""The ranking from counts: the same, for any results, as the one from the results themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from tiebreaks import Result, counts, table

from battlebot.contests import standings
from battlebot.contests.standings import ranking, ranking_by

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

    def of(chosen: Sequence[str]) -> list[dict[str, Any]]:
        asked.extend(chosen)
        return [pair for pair in pairs if pair["bot_id"] in chosen]

    made, right = ranking(bots, rows, of, points, byes), table(bots, results, points, byes)
    for ours, theirs in zip(made, right, strict=True):
        if ours["tieBreaks"]["sonnebornBerger"] is None:
            assert ours["bot_id"] not in asked
            ours["tieBreaks"]["sonnebornBerger"] = theirs["tieBreaks"]["sonnebornBerger"]
        assert ours == theirs
    assert len(set(asked)) == len(asked)


def test_a_pair_that_was_taken_back_counts_nothing() -> None:
    """Its row of zeroes stays behind in the storage."""
    rows = [{"bot_id": bot, "played": 0, "wins": 0, "draws": 0, "losses": 0} for bot in ("b", "a")]
    zeroes = [{"bot_id": "a", "opponent": "b", "wins": 0, "draws": 0, "losses": 0}]
    ranked = ranking([], rows, lambda bots: zeroes, (3, 1, 0), {})
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
