"""The duel arena's pages: results, profiles, live boards, and a match replayed turn by turn."""

from __future__ import annotations

import pytest
from records import played
from test_events import stream
from test_pages import HOSTILE, Page, matches_of, older_pages, page_at
from webhouse import House, finished

from battlebot.arena.names.presence import Holder, Presence
from battlebot.ratings.service import Rater
from battlebot.redisio import keys
from battlebot.referee.events import Turned
from battlebot.web import replay

WEB = "/web/gomoku"
MOVES = [(0, 0), (7, 7), (1, 0), (8, 7), (2, 0), (9, 7), (3, 0), (10, 7), (4, 0)]


def board(home: House) -> str:
    """Stores a board that a won by its ninth move; its id."""
    turns = [Turned("ab"[n % 2], {"x": x, "y": y}, 0.01) for n, (x, y) in enumerate(MOVES)]
    record = played(turns, "gomoku")
    home.storage.archive.store([record])
    Rater(home.storage).rate_new("gomoku")
    return record["_id"]


def marks(page: Page) -> int:
    """How many spaces of the board bear a mark."""
    return sum(text in ("X", "O") for text in page.texts)


def test_the_players_page_has_the_results(home: House) -> None:
    """And leads to the profiles; names are text."""
    home.storage.archive.store([finished(HOSTILE, "b", "b", game="gomoku")])
    Rater(home.storage).rate_new("gomoku")
    page = page_at(home.client, f"{WEB}/players")
    assert {"Rating", "Wins", "Games", "Invalid moves", "Time online", "1215", "1185", HOSTILE} <= set(page.texts)
    assert page.values("body", "data-events") == [f"{WEB}/players/events"]
    profile = next(link for link in page.values("a", "href") if "/player?" in link and "script" in link)
    assert HOSTILE in page_at(home.client, profile).text


def test_the_players_page_follows_who_comes(home: House) -> None:
    """By its stream."""
    with stream(home, f"{WEB}/players/events") as events:
        assert "Nobody is at the TCP door" in events.data()["sections"]["online"]
        home.redis.zadd(keys.NODES, {"n": 4102444800000})
        Presence(home.redis).claim(Holder("a", "n/t1", 1, True))
        assert ">a<" in events.data()["sections"]["online"]


def test_a_profile_shows_numbers_and_history(home: House) -> None:
    """With each board's page."""
    match_id = board(home)
    page = page_at(home.client, f"{WEB}/player?name=a")
    assert {"Rating", "1215", "without a password: anybody may use it"} <= set(page.texts)
    assert f"{WEB}/matches/{match_id}" in page.values("a", "href")


def test_a_profile_leads_to_all_matches(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the JSON's cursor, opened in a browser, to the same place."""
    monkeypatch.setattr("battlebot.web.people.MOST_MATCHES", 3)
    documents = [finished("a", "b", "a", game="gomoku") for _ in range(7)]
    home.storage.archive.store(documents)
    home.storage.archive.store([finished("c", "b", "c", game="gomoku")])
    pages = older_pages(home.client, f"{WEB}/player?name=a")
    assert [len(matches_of(page)) for page in pages] == [3, 3, 1]
    ids = [document["_id"] for document in documents]
    assert [match for page in pages for match in matches_of(page)] == ids[::-1]
    query = {"name": "a", "before": ids[1]}
    sent = home.client.get("/games/gomoku/player", query_string=query, headers={"Accept": "text/html"})
    assert matches_of(page_at(home.client, sent.location)) == ids[:1]


@pytest.mark.parametrize("query", ["", "?name=", "?name=nobody"])
def test_a_player_whom_nobody_knows_has_no_page(home: House, query: str) -> None:
    """But an error's, which says what is missing."""
    assert ("must end with ?name=" in page_at(home.client, f"{WEB}/player{query}", 404).text) == ("nobody" not in query)


def test_live_boards_are_shown_and_followed(home: House) -> None:
    """All on one page."""
    home.begin("a", "b", "gomoku")
    page = page_at(home.client, f"{WEB}/live")
    assert page.values("table", "class") == ["board large"]
    with stream(home, f"{WEB}/live/events") as events:
        assert events.data()["sections"]["boards"].count("<table") == 1
        home.begin("c", "d", "gomoku")
        assert events.data()["sections"]["boards"].count("<table") == 2


def test_a_finished_board_is_replayed_turn_by_turn(home: House) -> None:
    """Its page leads to its last turn but one, that to all others; the space that a turn has changed is marked."""
    path = f"{WEB}/matches/{board(home)}"
    whole = page_at(home.client, path)
    assert marks(whole) == len(MOVES)
    assert f"{path}/turns/{len(MOVES) - 1}" in whole.values("a", "href")
    for turn in range(len(MOVES) + 1):
        page = page_at(home.client, f"{path}/turns/{turn}")
        assert marks(page) == turn
        assert f"after turn {turn} of {len(MOVES)}" in page.texts
        fresh = [value for value in page.values("td", "class") if "fresh" in value]
        assert len(fresh) == (1 if turn else 0)
        links = set(page.values("a", "href"))
        assert (f"{path}/turns/{turn + 1}" in links) == (turn < len(MOVES))
        assert (f"{path}/turns/{turn - 1}" in links) == (turn > 0)


@pytest.mark.parametrize("turn", ["10", "99999", "-1", "x"])
def test_a_turn_that_was_not_made_has_no_page(home: House, turn: str) -> None:
    """But an error's."""
    page_at(home.client, f"{WEB}/matches/{board(home)}/turns/{turn}", 404)


def test_a_match_too_long_for_a_page_is_not_replayed(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page has the board, and no way through it."""
    path = f"{WEB}/matches/{board(home)}"
    monkeypatch.setattr(replay, "MOST_TURNS", len(MOVES))
    assert "Replay" in page_at(home.client, path).values("nav", "aria-label")
    monkeypatch.setattr(replay, "MOST_TURNS", len(MOVES) - 1)
    assert "Replay" not in page_at(home.client, path).values("nav", "aria-label")
    page_at(home.client, f"{path}/turns/1", 404)


def test_a_match_that_the_rules_of_now_refuse_is_not_replayed(home: House) -> None:
    """An error, and no traceback."""
    match_id = board(home)
    home.storage.database["games"].update_one({"_id": match_id}, {"$set": {"turns.0": {"player": "a"}}})
    page_at(home.client, f"{WEB}/matches/{match_id}/turns/3", 404)


def test_the_match_page_says_who_had_no_password(home: House) -> None:
    """And which board of the pairing it was."""
    match_id = board(home)
    series = {"id": "s", "board": 2, "boards": 2, "number": 77, "passwordless": ["b"]}
    home.storage.database["games"].update_one({"_id": match_id}, {"$set": {"match.series": series}})
    page = page_at(home.client, f"{WEB}/matches/{match_id}")
    assert {"77, 2 of 2", "Without a password"} <= set(page.texts)
