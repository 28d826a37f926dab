"""The duel arena's table of results and its players' profiles, as JSON; a browser is sent to the pages."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from webhouse import House, finished

from battlebot.api.context import CONTEXT_KEY
from battlebot.arena.names.presence import Holder, Presence
from battlebot.ratings.service import Rater
from battlebot.redisio import keys
from battlebot.redisio.connection import connect

GAME = "gomoku"
PATH = f"/games/{GAME}/players"
PROFILE = f"/games/{GAME}/player"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ODD = "a/b ../ü?&<i>"


def played(home: House, *boards: tuple[str, str, str | None], **more: Any) -> list[str]:
    """Stores boards (two players and the victor), and brings the ratings up to date; the matches' ids."""
    documents = [finished(a, b, victor, game=GAME, **more) for a, b, victor in boards]
    home.storage.archive.store(documents)
    Rater(home.storage).rate_new(GAME)
    return [document["_id"] for document in documents]


def online(home: House, name: str, seconds: float = 0.0) -> None:
    """Has the player come to the TCP door, so long ago."""
    home.redis.zadd(keys.NODES, {"n": int(time.time() * 1000)})
    since_ms = int((time.time() - seconds) * 1000)
    Presence(home.redis).claim(Holder(name, "n/t1", since_ms, True))
    home.storage.players.were_online([(name, since_ms, seconds)])


def table(home: House, query: str = "") -> list[dict[str, Any]]:
    """The rows that the table answers."""
    answer = home.client.get(PATH + query)
    assert answer.status_code == 200
    return answer.json["players"]


def test_the_table_of_results(home: House) -> None:
    """Elo by boards, wins, games, invalid moves, the time online and who is online now; the best first."""
    played(home, ("a", "b", "a"), ("b", "a", "a"), ("a", "b", None))
    strikes = {"match": {**finished("c", "b", "c")["match"], "seq": 10**6, "strikes": {"b": 1}}}
    played(home, ("c", "b", "c"), reason="invalid", **strikes)
    online(home, "b", 90.0)
    online(home, "watcher")
    home.storage.bots.register(GAME, "a", "owner", b"sealed", "a")
    answer = home.client.get(PATH).json
    rows = {row["player"]: row for row in answer["players"]}
    assert [row["player"] for row in answer["players"]] == ["a", "c", "b"]
    assert [row["rank"] for row in answer["players"]] == [1, 2, 3]
    assert sum(row["rating"] for row in rows.values()) == pytest.approx(3600.0)
    assert rows["a"] | {"rating": None} == {
        "rank": 1,
        "player": "a",
        "rating": None,
        "wins": 2,
        "games": 3,
        "invalidMoves": 0,
        "registered": True,
        "online": False,
        "onlineS": None,
    }
    b = rows["b"]
    assert (b["wins"], b["games"], b["invalidMoves"], b["registered"], b["online"]) == (0, 4, 1, False, True)
    assert b["onlineS"] == pytest.approx(90.0)
    assert answer["online"] == ["b", "watcher"]


def test_who_has_just_come_for_the_first_time_has_been_online_for_no_time(home: House) -> None:
    """Not for an unknown one: its time is noted from half a minute on."""
    played(home, ("a", "b", "a"))
    home.redis.zadd(keys.NODES, {"n": int(time.time() * 1000)})
    Presence(home.redis).claim(Holder("a", "n/t1", int(time.time() * 1000), True))
    assert {row["player"]: (row["online"], row["onlineS"]) for row in table(home)} == {
        "a": (True, 0.0),
        "b": (False, None),
    }


def test_the_table_is_had_in_parts(home: House) -> None:
    """With ranks that go on, and are shared where the rating is equal."""
    played(home, ("a", "b", "a"), ("c", "d", "c"))
    assert [(row["player"], row["rank"]) for row in table(home)] == [("a", 1), ("c", 1), ("b", 3), ("d", 3)]
    first = home.client.get(f"{PATH}?limit=3")
    assert first.headers["Link"] == f'<{first.json["next"]}>; rel="next"'
    rest = home.client.get(first.json["next"]).json
    assert [(row["player"], row["rank"]) for row in rest["players"]] == [("d", 3)]
    assert "next" not in rest
    assert [(row["player"], row["rank"]) for row in table(home, "?offset=1")] == [("c", 1), ("b", 3), ("d", 3)]
    assert table(home, "?offset=9") == []


def test_another_game_has_its_table_too(home: House) -> None:
    """With nobody at a door that it has not."""
    online(home, "a")
    home.play("a", "b", "a")
    Rater(home.storage).rate_new("noughtsandcrosses")
    answer = home.client.get("/games/noughtsandcrosses/players").json
    assert [(row["player"], row["online"], row["onlineS"]) for row in answer["players"]] == [
        ("a", False, None),
        ("b", False, None),
    ]
    assert answer["online"] == []


def test_without_redis_nobody_knows_who_is_online(home: House) -> None:
    """The table is there all the same."""
    played(home, ("a", "b", "a"))
    away = Presence(connect("unix:///there/is/none.sock"))
    home.app.extensions[CONTEXT_KEY] = replace(home.context, presence=away)
    answer = home.client.get(PATH).json
    assert (answer["online"], answer["players"][0]["online"]) == (None, None)


def test_a_profile_has_the_history(home: House) -> None:
    """The newest board first, part by part; of this player only."""
    ids = played(home, ("a", "b", "a"), ("b", "c", "c"), ("c", "a", None), ("a", "c", "c"))
    answer = home.client.get(PROFILE, query_string={"name": "a"}).json
    assert [game["_id"] for game in answer["games"]] == [ids[3], ids[2], ids[0]]
    assert "turns" not in answer["games"][0]
    assert answer["games"][2]["match"]["sentence"].startswith("a won")
    assert (answer["player"]["wins"], answer["player"]["games"]) == (1, 3)
    part = home.client.get(PROFILE, query_string={"name": "a", "limit": 2})
    assert part.headers["Link"] == f'<{part.json["next"]}>; rel="next"'
    rest = home.client.get(part.json["next"]).json
    assert [game["_id"] for game in rest["games"]] == [ids[0]]
    assert home.client.get(PROFILE, query_string={"name": "a", "before": ids[0]}).json["games"] == []
    assert "next" not in rest


def test_any_name_of_the_tcp_door_has_a_profile(home: House) -> None:
    """Also with slashes in it; and before its first board, as has a bot that is registered."""
    played(home, (ODD, "b", ODD))
    assert home.client.get(PROFILE, query_string={"name": ODD}).json["player"]["player"] == ODD
    online(home, "newcomer", 5.0)
    row = home.client.get(PROFILE, query_string={"name": "newcomer"}).json["player"]
    assert (row["rating"], row["games"], row["online"]) == (1200.0, 0, True)
    home.storage.bots.register(GAME, "registered", "owner", b"sealed", "registered")
    assert home.client.get(PROFILE, query_string={"name": "registered"}).json["player"]["onlineS"] is None


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"name": "nobody"}, 404, "unknown-player"),
        ({}, 400, "bad-message"),
        ({"name": ""}, 400, "bad-message"),
        ({"name": "x" * 65}, 400, "bad-message"),
        ({"name": "a", "limit": "0"}, 400, "bad-message"),
        ({"name": "a", "before": "none"}, 400, "bad-message"),
    ],
)
def test_what_is_no_player_is_said_so(home: House, query: dict[str, str], status: int, code: str) -> None:
    """In the form of all errors."""
    played(home, ("a", "b", "a"))
    answer = home.client.get(PROFILE, query_string=query)
    assert (answer.status_code, answer.json["code"]) == (status, code)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        (PATH, "/web/gomoku/players"),
        (f"{PROFILE}?name=a%2Fb", "/web/gomoku/player?name=a/b"),
    ],
)
def test_a_browser_is_sent_to_the_page(home: House, path: str, page: str) -> None:
    """Who asks for nothing in particular, or for JSON, gets JSON."""
    played(home, ("a/b", "b", "b"))
    answer = home.client.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["Location"], answer.headers["Vary"]) == (303, page, "Accept")
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        as_asked = home.client.get(path, headers={"Accept": accept})
        assert (as_asked.mimetype, as_asked.headers["Vary"]) == ("application/json", "Accept")
    as_json = f"{path}{'&' if '?' in path else '?'}format=json"
    assert home.client.get(as_json, headers=BROWSER).mimetype == "application/json"


@pytest.mark.parametrize("query", ["/players?", "/player?name=a&"])
def test_a_browser_that_has_json_finds_json_where_the_rest_is(home: House, query: str) -> None:
    """The address of the next part asks for JSON as the first one did."""
    played(home, ("a", "b", "a"), ("a", "b", "a"))
    first = home.client.get(f"/games/{GAME}{query}limit=1&format=json", headers=BROWSER)
    assert home.client.get(first.json["next"], headers=BROWSER).mimetype == "application/json"
    plain = home.client.get(f"/games/{GAME}{query}limit=1")
    assert "format" not in plain.json["next"]
