"""How one match moves ratings: Weng and Lin's numbers, draws, more than two players, and what moves nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from stored_matches import right, season, stored

from battlebot.ratings.model import rated, stored_ranks
from battlebot.ratings.rating import Rating, table

BETA, TAU = 25 / 6, 25 / 300


def by_hand(winner: Rating, loser: Rating) -> tuple[float, float]:
    """The new mus of a match of two (Weng and Lin 2011, algorithm 4, k = 2; each sigma widened by tau before)."""
    squares = [rating.sigma**2 + TAU**2 for rating in (winner, loser)]
    c = math.sqrt(sum(squares) + 2 * BETA**2)
    expected = 1 / (1 + math.exp((loser.mu - winner.mu) / c))
    return winner.mu + squares[0] / c * (1 - expected), loser.mu - squares[1] / c * (1 - expected)


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        (Rating(), Rating()),
        (Rating(32.5, 2.0, 40), Rating(19.0, 4.0, 9)),
        (Rating(19.0, 4.0, 9), Rating(32.5, 2.0, 40)),
    ],
    ids=["newcomers", "as expected", "an upset"],
)
@pytest.mark.parametrize("players", [["a", "b"], ["b", "a"]])
def test_a_win_moves_both_as_the_paper_says(winner: Rating, loser: Rating, players: list[str]) -> None:
    """Whoever moved first; each match counts, and everybody is surer of both."""
    after = rated({"a": winner, "b": loser}, stored(1, players, "a"))
    mus = by_hand(winner, loser)
    assert (after["a"].mu, after["b"].mu) == (pytest.approx(mus[0], rel=1e-12), pytest.approx(mus[1], rel=1e-12))
    assert (after["a"].matches, after["b"].matches) == (winner.matches + 1, loser.matches + 1)
    assert after["a"].sigma < math.hypot(winner.sigma, TAU)


def test_a_draw_of_equals_moves_no_mu_and_one_of_unequals_brings_them_nearer() -> None:
    """And is worth less than a win."""
    equals = rated({}, stored(1, victor=None))
    assert (equals["a"].mu, equals["b"].mu) == (25.0, 25.0)
    assert equals["a"].sigma == equals["b"].sigma < 25 / 3
    before = {"a": Rating(30.0, 3.0, 5), "b": Rating(20.0, 3.0, 5)}
    drawn, won = rated(before, stored(1, victor=None)), rated(before, stored(1, victor="b"))
    assert 20.0 < drawn["b"].mu < won["b"].mu
    assert won["a"].mu < drawn["a"].mu < 30.0


PLACES: list[tuple[dict[str, Any], dict[str, float]]] = [
    ({}, {"a": 1, "b": 2, "c": 2}),
    ({"victor": None}, {"a": 1, "b": 1, "c": 1}),
    ({"victor": None, "places": {"a": 3, "b": 1, "c": 2}}, {"a": 3, "b": 1, "c": 2}),
    ({"places": {"b": 1, "c": 1, "a": 3}}, {"a": 3, "b": 1, "c": 1}),
    ({"places": {"b": 1, "a": 2}}, {"a": 2, "b": 1, "c": 3}),
    ({"places": {}}, {"a": 1, "b": 1, "c": 1}),
    ({"places": {"a": 1, "b": 2, "c": 3, "nobody": 4}}, {"a": 1, "b": 2, "c": 3}),
]


@pytest.mark.parametrize(("match", "places"), PLACES)
def test_places_come_from_the_match_else_from_its_victor(match: dict[str, Any], places: dict[str, float]) -> None:
    """Of three players: a victor alone leaves the others equal; who has no place comes last."""
    assert stored_ranks(stored(1, "abc", match.pop("victor", "a"), **match)) == places


def test_three_players_are_rated_by_their_places() -> None:
    """The victor of the document does not matter where there are places; equal places, equal ratings."""
    after = rated({}, stored(1, "abc", "a", places={"c": 1, "a": 2, "b": 3}))
    assert after["c"].mu > after["a"].mu > after["b"].mu
    tied = rated({}, stored(1, "abc", None, places={"c": 1, "a": 2, "b": 2}))
    assert tied["c"].mu > 25 > tied["a"].mu == tied["b"].mu


@pytest.mark.parametrize("match", [stored(1, void=True), stored(1, ["a", "a"]), stored(1, ["a"]), stored(1, [])])
def test_what_nobody_won_from_another_moves_nothing(match: dict[str, Any]) -> None:
    """A void match, a bot against itself, a match without an opponent."""
    assert rated({"a": Rating(30.0, 2.0, 7)}, match) == {}


def test_the_ratings_given_are_left_as_they_were() -> None:
    """And those of others are not answered."""
    before = {"a": Rating(30.0, 2.0, 7), "z": Rating()}
    assert rated(before, stored(1)).keys() == {"a", "b"}
    assert before == {"a": Rating(30.0, 2.0, 7), "z": Rating()}


def test_the_better_bot_comes_out_above_and_its_interval_narrows() -> None:
    """The 95 % interval is mu ± 1.96 sigma, the ordinal mu - 3 sigma."""
    after = right(stored(seq, victor="b" if seq % 4 == 0 else "a") for seq in range(1, 101))
    assert after["a"].ordinal > after["b"].ordinal
    assert after["a"].high - after["a"].low < Rating().high - Rating().low
    one = Rating(30.0, 2.0)
    assert (one.low, one.high, one.ordinal) == pytest.approx((26.08, 33.92, 24.0))


def test_the_order_of_matches_matters() -> None:
    """Which is why there is one: were it not so, the tests of the order could not fail."""
    games = season(50)
    turned = [{**game, "match": {**game["match"], "seq": 51 - game["match"]["seq"]}} for game in games]
    assert right(games) != right(turned)


def test_equal_ordinals_share_a_rank_over_the_pages() -> None:
    """1, 2, 2, 4: the page that begins amid a tie says so."""
    rows = [
        {"bot_id": name, "mu": mu, "sigma": 1.0, "matches": 1}
        for name, mu in zip("abcde", (9, 8, 8, 8, 7), strict=True)
    ]
    assert [row["rank"] for row in table(rows, 0, 0)] == [1, 2, 2, 2, 5]
    assert [row["rank"] for row in table(rows[2:], 2, 1)] == [2, 2, 5]
    assert table([], 0, 0) == []
