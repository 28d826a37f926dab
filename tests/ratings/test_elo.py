"""The original duel arena's ratings: Elo, K = 30, from 1200, per board, both sides by their ratings before it."""

from __future__ import annotations

from typing import Any

import pytest
from stored_matches import GAME, kept, season, stored

from battlebot.ratings.elo import expected, moved
from battlebot.ratings.model import rated
from battlebot.ratings.rating import Rating
from battlebot.ratings.service import Rater
from battlebot.storage import Storage


@pytest.mark.parametrize(
    ("own", "other", "score", "after"),
    [
        (1200.0, 1200.0, 1.0, 1215.0),
        (1200.0, 1200.0, 0.0, 1185.0),
        (1200.0, 1200.0, 0.5, 1200.0),
        (1600.0, 1200.0, 1.0, 1600.0 + 30 / 11),
        (1200.0, 1600.0, 1.0, 1200.0 + 300 / 11),
        (1600.0, 1200.0, 0.5, 1600.0 - 30 * (10 / 11 - 0.5)),
    ],
)
def test_a_board_moves_a_rating_so(own: float, other: float, score: float, after: float) -> None:
    """Four hundred points make ten to one."""
    assert moved(own, other, score) == pytest.approx(after)


def test_nothing_is_made_or_lost() -> None:
    """What one gains the other loses."""
    assert expected(1234.0, 1432.0) + expected(1432.0, 1234.0) == pytest.approx(1.0)


@pytest.mark.parametrize(("victor", "scores"), [("a", (1.0, 0.0)), ("b", (0.0, 1.0)), (None, (0.5, 0.5))])
def test_both_sides_by_their_ratings_before_the_board(victor: str | None, scores: tuple[float, float]) -> None:
    """Not one after the other."""
    before = {"a": Rating(elo=1300.0), "b": Rating(elo=1250.0)}
    after = rated(before, stored(1, victor=victor))
    assert after["a"].elo == moved(1300.0, 1250.0, scores[0])
    assert after["b"].elo == moved(1250.0, 1300.0, scores[1])


@pytest.mark.parametrize(
    ("match", "wins", "invalid"),
    [
        (stored(1), (1, 0), (0, 0)),
        (stored(1, victor=None), (0, 0), (0, 0)),
        ({**stored(1, strikes={"b": 1}, evidence={"bot": "b"}), "reason": "invalid"}, (1, 0), (0, 1)),
        ({**stored(1, evidence={"bot": "b"}), "reason": "timeout"}, (1, 0), (0, 1)),
        ({**stored(1, evidence={"absent": ["b"]}), "reason": "disconnect"}, (1, 0), (0, 0)),
        (stored(1, strikes={"a": 2, "b": 1}), (1, 0), (2, 1)),
    ],
)
def test_wins_and_invalid_moves_are_counted(
    match: dict[str, Any], wins: tuple[int, int], invalid: tuple[int, int]
) -> None:
    """A time-out counts as an invalid move, as in the original; a player that has left made none."""
    after = rated({}, match)
    assert (after["a"].wins, after["b"].wins) == wins
    assert (after["a"].invalid, after["b"].invalid) == invalid


def test_a_match_of_three_moves_no_elo() -> None:
    """It is made for two; the house's own rating moves."""
    after = rated({}, stored(1, players=("a", "b", "c"), places={"a": 1, "b": 2, "c": 3}))
    assert {rating.elo for rating in after.values()} == {1200.0}
    assert [after[bot].wins for bot in "abc"] == [1, 0, 0]


def test_ratings_of_an_earlier_version_are_made_anew(storage: Storage) -> None:
    """Their rows have no Elo, and their cursor says nothing of a form."""
    storage.archive.store(season(60))
    Rater(storage).rate_new(GAME)
    right = kept(storage)
    storage.database["ratings"].update_many({}, {"$unset": {"elo": 1, "wins": 1, "invalid": 1}})
    storage.database["rating_cursors"].update_many({}, {"$unset": {"form": 1}})
    assert {rating.elo for rating in kept(storage).values()} == {1200.0}
    Rater(storage).rate_new(GAME)
    assert kept(storage) == right
    assert len({rating.elo for rating in right.values()}) > 2
    assert Rater(storage).rate_new(GAME) == 0


def test_a_wrong_elo_is_a_difference_that_a_rebuild_mends(storage: Storage) -> None:
    """The same replay as for the house's rating."""
    storage.archive.store(season(30))
    Rater(storage).rate_new(GAME)
    right = kept(storage)
    storage.database["ratings"].update_one({"bot_id": "bot1"}, {"$inc": {"elo": 0.5}})
    [row] = Rater(storage).compare(GAME).rows
    assert (row["bot_id"], row["kept"]["elo"] - row["rebuilt"]["elo"]) == ("bot1", pytest.approx(0.5))
    Rater(storage).rebuild(GAME)
    assert kept(storage) == right
