"""Pages, lists and files of matches of one player to 64: all of them named where there is room, the order told."""

from __future__ import annotations

from typing import Any

import pytest
from cup import cup
from records import reserve
from test_pages import page_at
from webhouse import House, finished

GAME = "battlecube"
PLACES = {1: [1], 3: [1, 2, 2], 64: [1, 1, *range(3, 65)]}


def battle(home: House, count: int, contest: str | None = None) -> dict[str, Any]:
    """A stored match of so many bots."""
    bots = [f"bot {number}" for number in range(count)]
    places = dict(zip(bots, PLACES[count], strict=True))
    scores = {bot: 100 - place for bot, place in places.items()}
    victor = bots[0] if PLACES[count].count(1) == 1 else None
    document = finished(bots[0], "", victor, contest, game=GAME, players=bots, board=None, marks=None)
    document["match"] |= {"places": places, "scores": scores}
    if contest is not None:
        n = 1 + len(home.storage.meetings.of_contest(GAME, contest))
        row = {"match": document["_id"], "bots": bots, "n": n, "round": n, "together": True}
        reserve(home.storage, GAME, contest, [row])
    assert home.storage.archive.store([document])
    return document


@pytest.mark.parametrize("count", [1, 3, 64])
def test_a_match_of_many_has_its_page(home: House, count: int) -> None:
    """Every player is on it, with place and score; the lists name the first of them."""
    match = battle(home, count)
    page = page_at(home.client, f"/web/{GAME}/matches/{match['_id']}")
    for bot in match["players"][1:]:
        assert f"{bot}" in page.text
    assert ("The order: " in page.text) == (count > 1)
    assert ("and 56 more" in page.text) == (count == 64)
    listed = page_at(home.client, f"/web/{GAME}").text
    assert ("and 60 more" in listed) == (count == 64)
    assert ("won" in listed) == (count != 64)
    live = home.begin("x", "y", game=GAME)
    assert "2 of 2 yet to answer" in page_at(home.client, f"/web/{GAME}/matches/{live.id}").text


@pytest.mark.parametrize("count", [3, 64])
def test_a_champions_contest_has_its_page(home: House, count: int) -> None:
    """Battles of all, wins and scores, most wins first and then most scored; files with all players."""
    bots = [f"bot {number}" for number in range(count)]
    home.storage.contests.create(cup(game=GAME, format="champion", config={"battles": 7}, entrants=bots))
    for _ in range(2):
        battle(home, count, "cup")
    page = page_at(home.client, f"/web/{GAME}/contests/cup")
    assert "7 battles of all" in " ".join(page.text.split())
    assert (page.values("progress", "max"), page.values("progress", "value")) == (["7"], ["2"])
    assert ("who finishes before another has won against it" in page.text) == (count == 3)
    assert "Rounds" not in page.text
    answer = home.client.get(f"/games/{GAME}/contest/cup").json
    rows = answer["bots"]
    assert [row["rank"] for row in rows] == PLACES[count]
    assert [row["scored"] for row in rows] == [2 * (100 - place) for place in PLACES[count]]
    assert (answer["contest"]["meetings"], answer["contest"]["together"]) == (7, True)
    meetings = home.client.get(f"/games/{GAME}/contests/cup/meetings").json
    assert meetings["pairs"] == []
    assert [len(one["meetings"][0]["bots"]) for one in meetings["rounds"]] == [count] * 7
    table = home.client.get(f"/games/{GAME}/contests/cup/crosstable").json
    assert table["rows"][0]["against"][bots[-1]] == {"wins": 2, "draws": 0, "losses": 0}
    line = home.client.get(f"/games/{GAME}/contests/cup/export.csv").text.splitlines()[1]
    assert "/".join(bots) in line
    assert line.endswith(" ".join(map(str, PLACES[count])))
