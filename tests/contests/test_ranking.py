"""The order of standings, by tables."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from battlebot.contests.ranking import ranked


def row(bot_id: str, score: int, wins: int, draws: int, losses: int) -> dict[str, Any]:
    """A standing as the storage has it."""
    played = wins + draws + losses
    return {"bot_id": bot_id, "score": score, "wins": wins, "draws": draws, "losses": losses, "played": played}


BETTER_AND_WORSE = [
    pytest.param(row("z", 6, 2, 0, 0), row("a", 4, 1, 1, 0), id="more points"),
    pytest.param(row("z", 3, 1, 0, 4), row("a", 3, 0, 3, 0), id="as many points, more wins"),
    pytest.param(row("z", 3, 1, 0, 1), row("a", 3, 1, 0, 2), id="as many wins, fewer losses"),
]


@pytest.mark.parametrize(("better", "worse"), BETTER_AND_WORSE)
def test_the_better_stands_above_whatever_the_names(better: dict[str, Any], worse: dict[str, Any]) -> None:
    """The seed's order: points, then wins, then fewest losses."""
    for rows in ([better, worse], [worse, better]):
        assert [(row["bot_id"], row["rank"]) for row in ranked(rows)] == [("z", 1), ("a", 2)]


def test_a_tie_shares_its_rank_and_stands_in_the_order_of_names() -> None:
    """Ranks go 1, 2, 2, 4."""
    rows = [row("d", 0, 0, 0, 9), row("c", 3, 1, 0, 0), row("b", 3, 1, 0, 0), row("a", 6, 2, 0, 0)]
    assert [(r["rank"], r["bot_id"]) for r in ranked(rows)] == [(1, "a"), (2, "b"), (2, "c"), (4, "d")]


def test_three_that_tie_at_the_top_share_the_first_rank() -> None:
    """A rank is shared by any number."""
    rows = [row(name, 0, 0, 0, 0) for name in "cab"] + [row("x", 0, 0, 0, 1)]
    assert [(r["rank"], r["bot_id"]) for r in ranked(rows)] == [(1, "a"), (1, "b"), (1, "c"), (4, "x")]


def test_the_order_given_does_not_matter_and_the_rows_stay_as_they_were() -> None:
    """Pure: the input is neither changed nor handed back."""
    rows = [row(f"bot {n}", n % 4, n % 3, n % 2, n % 5) for n in range(12)]
    before, expected = copy.deepcopy(rows), ranked(rows)
    random.Random(1).shuffle(rows)
    assert ranked(rows) == expected
    assert sorted(rows, key=str) == sorted(before, key=str)


def test_nobody_is_ranked_in_an_empty_contest() -> None:
    """No rows, no table."""
    assert ranked([]) == []
