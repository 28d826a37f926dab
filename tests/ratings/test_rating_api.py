"""`GET /games/<game>/ratings`: the shape, the order, the pages, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from stored_matches import stored
from webhouse import House

from battlebot.ratings.service import Rater

PATH = "/games/numberwang/ratings"
ELO = {"elo": 1200.0, "wins": 0, "invalid": 0}


def keep(home: House, ratings: dict[str, tuple[float, float]]) -> None:
    """Ratings (mu, sigma) as the service writes them."""
    revision = home.storage.ratings.cursor("numberwang")["revision"]
    rows = [
        {"bot_id": bot, "mu": mu, "sigma": sigma, "ordinal": mu - 3 * sigma, "matches": 4, **ELO}
        for bot, (mu, sigma) in ratings.items()
    ]
    assert home.storage.ratings.replace("numberwang", revision, {}, rows)


def shown(home: House, query: str = "") -> list[tuple[int, str]]:
    """(rank, bot) of each row."""
    return [(row["rank"], row["bot_id"]) for row in home.client.get(PATH + query).json["ratings"]]


def test_without_matches_there_are_no_ratings(home: House) -> None:
    """An empty table, no error; a bot that has not played is not in it."""
    answer = home.client.get(PATH)
    assert (answer.status_code, answer.json) == (200, {"ratings": []})


def test_a_row_has_the_rating_with_its_interval(home: House) -> None:
    """Of a match that was stored and rated."""
    home.storage.archive.store([stored(1)])
    Rater(home.storage).rate_new("numberwang")
    winner, loser = home.client.get(PATH).json["ratings"]
    assert list(winner) == ["rank", "bot_id", "mu", "sigma", "low", "high", "ordinal", "matches"]
    assert (winner["rank"], winner["bot_id"], winner["matches"]) == (1, "a", 1)
    assert winner["mu"] == pytest.approx(27.635389493140497)
    assert winner["sigma"] == pytest.approx(8.06590141354368)
    assert winner["low"] == pytest.approx(winner["mu"] - 1.96 * winner["sigma"])
    assert winner["high"] == pytest.approx(winner["mu"] + 1.96 * winner["sigma"])
    assert winner["ordinal"] == pytest.approx(winner["mu"] - 3 * winner["sigma"])
    assert (loser["rank"], loser["bot_id"]) == (2, "b")


def test_the_table_is_in_the_order_of_the_cautious_value_and_ties_share_a_rank(home: House) -> None:
    """A high mu of which little is known stands below; equal ones in the order of names, on every page."""
    keep(home, {"sure": (30.0, 1.0), "lucky": (35.0, 8.0), "d": (25.0, 2.0), "c": (25.0, 2.0), "low": (12.0, 1.0)})
    assert shown(home) == [(1, "sure"), (2, "c"), (2, "d"), (4, "lucky"), (5, "low")]
    assert shown(home, "?offset=2") == [(2, "d"), (4, "lucky"), (5, "low")]
    assert shown(home, "?offset=9") == []


def test_pages_lead_to_one_another(home: House) -> None:
    """By `next` and by the header, until there is no more."""
    keep(home, {f"bot{index:03}": (25.0 + index, 1.0) for index in range(250)})
    path, names, sizes = PATH, [], []
    while path:
        answer = home.client.get(path)
        rows = answer.json["ratings"]
        names += [row["bot_id"] for row in rows]
        sizes.append(len(rows))
        path = answer.json.get("next")
        assert answer.headers.get("Link") == (f'<{path}>; rel="next"' if path else None)
    assert sizes == [100, 100, 50]
    assert names == [f"bot{index:03}" for index in range(249, -1, -1)]
    assert shown(home, "?limit=1") == [(1, "bot249")]
    whole = home.client.get(f"{PATH}?limit=250").json
    assert (len(whole["ratings"]), "next" in whole) == (250, False)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "offset=-1", "offset=1e3", "offset=" + "9" * 10])
def test_bounds_are_told(query: str, home: House) -> None:
    """400, with the field and the rule."""
    answer = home.client.get(f"{PATH}?{query}")
    wanted: dict[str, Any] = {"code": "bad-message", "field": query.split("=")[0], "rule": "bounds"}
    assert answer.status_code == 400
    assert {name: answer.json[name] for name in wanted} == wanted


def test_an_unknown_game_is_404_and_other_methods_are_405(home: House) -> None:
    """As everywhere."""
    assert (home.client.get("/games/chess9/ratings").status_code, home.client.post(PATH).status_code) == (404, 405)


def test_it_is_described(home: House) -> None:
    """In /openapi.json, with its arguments and its answer."""
    operation = home.client.get("/openapi.json").json["paths"]["/games/{game}/ratings"]["get"]
    assert {one["name"] for one in operation["parameters"] if "name" in one} == {"limit", "offset"}
    assert operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/RatingsAnswer")
