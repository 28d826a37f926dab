"""The GET paths of the originals, as JSON."""

from __future__ import annotations

import json
import re

import pytest
from flask.testing import FlaskClient
from webhouse import X_WINS, House

from battlebot.storage.games import Games

GAME = "/games/noughtsandcrosses"
CONTEST = f"{GAME}/contest/autumn"


def test_the_thirty_most_recent_matches_come_newest_first_without_turns(home: House) -> None:
    """As the original listed them; those of other games do not come."""
    ids = [home.play("a", "b", "a") for _ in range(32)]
    home.play("c", "d", None, game="connectfour")
    games = home.client.get(GAME).json
    assert [game["_id"] for game in games] == ids[:1:-1]
    assert not any("turns" in game for game in games)
    assert {"_id", "game", "contest", "players", "victor", "reason", "startTime", "board", "marks"} <= games[0].keys()
    assert re.fullmatch(r"2026-11-21T12:\d\d:\d\d\.123Z", games[0]["startTime"])


def test_the_list_of_a_games_matches_leads_to_the_older_ones(home: House) -> None:
    """By its header, as the list itself is the original's; what was asked for is asked for again."""
    ids = [home.play("a", "b", "a") for _ in range(32)]
    answer = home.client.get(f"{GAME}?fault=none")
    assert answer.headers["Link"] == f'<{GAME}?limit=30&before={ids[2]}&fault=none>; rel="next"'
    rest = home.client.get(f"{GAME}?limit=30&before={ids[2]}&fault=none")
    assert [game["_id"] for game in rest.json] == [ids[1], ids[0]]
    assert "Link" not in rest.headers
    assert "Link" not in home.client.get(f"{GAME}?limit=32").headers
    assert [game["_id"] for game in home.client.get(f"{GAME}?limit=2").json] == ids[:29:-1]


def test_a_match_that_is_taken_back_meanwhile_does_not_end_the_list(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its part would be one match short, which says that there are no older ones."""
    home.contest("autumn", bots=("a", "b"))
    ids = [home.play("a", "b", "a", "autumn") for _ in range(5)][::-1]
    numbers = Games.numbers

    def taken_back(games: Games, game: str, contest: str, limit: int, before: str | None) -> list[int]:
        found = numbers(games, game, contest, limit, before)
        home.storage.database["games"].update_one({"_id": ids[0]}, {"$set": {"match.void": True}})
        return found

    monkeypatch.setattr(Games, "numbers", taken_back)
    answer = home.client.get(f"{CONTEST}?limit=2").json
    assert [game["_id"] for game in answer["games"]] == ids[1:3]
    rest = home.client.get(answer["next"]).json
    assert ([game["_id"] for game in rest["games"]], "next" in rest) == (ids[3:], False)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "before=", "before=none"])
def test_a_part_of_a_games_matches_that_cannot_be_is_an_error(home: House, query: str) -> None:
    """The field is named."""
    answer = home.client.get(f"{GAME}?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "bad-message")
    assert query.partition("=")[0] in json.dumps(answer.json)


def test_a_match_comes_with_its_turns(home: House) -> None:
    """And the final state's own keys."""
    match_id = home.play("a", "b", None)
    game = home.client.get(f"{GAME}/{match_id}").json
    assert game["turns"][0] == {"mark": "X", "space": [0, 0], "player": "a", "time": game["turns"][0]["time"]}
    assert (game["_id"], game["victor"], game["contest"], game["board"]) == (match_id, None, None, X_WINS)


def test_what_the_driver_reads_as_a_reference_is_shown_as_it_was_stored(home: House) -> None:
    """MongoDB's driver has a type of its own for such an object."""
    reference = {"$ref": "a", "$id": 1, "$db": "b", "more": [{"$ref": "c", "$id": {"$ref": "d", "$id": None}}]}
    match_id = home.play("a", "b", None, extra=[reference])
    answer = home.client.get(f"{GAME}/{match_id}")
    assert (answer.status_code, answer.json["extra"]) == (200, [reference])
    assert home.client.get(f"/web{GAME}/matches/{match_id}".replace("/web/games", "/web")).status_code == 200


def test_what_is_not_there_is_404(home: House) -> None:
    """A match of another game or one that is still played is not there either."""
    home.contest()
    other = home.play("a", "b", "a", game="connectfour")
    live = home.begin("a", "b").id
    for path, code in {
        f"{GAME}/nothing": "unknown-match",
        f"{GAME}/{other}": "unknown-match",
        f"{GAME}/{live}": "unknown-match",
        f"{GAME}/%00": "unknown-match",
        f"{GAME}/%ff%fe": "unknown-match",
        f"{GAME}/contest/spring": "unknown-contest",
        "/games/connectfour/contest/autumn": "unknown-contest",
        "/games/chess": "unknown-game",
        "/bots/chess": "unknown-game",
        "/games/chess/contest/autumn": "unknown-game",
        "/nowhere": "not-found",
        "/games/": "not-found",
        "//bots/numberwang": "not-found",
        "/games//numberwang": "not-found",
    }.items():
        answer = home.client.get(path)
        assert (path, answer.status_code, answer.json["code"]) == (path, 404, code)


def test_a_contest_is_ranked_with_its_matches(home: House) -> None:
    """Three points a win, one a draw; a bot that has not played stands in it as well; void matches do not come."""
    home.contest(bots=("a", "b", "c", "idle"))
    counted = [
        home.play("a", "b", "a", "autumn"),
        home.play("b", "c", None, "autumn"),
        home.play("c", "a", "a", "autumn"),
    ]
    home.play("a", "b", None, "autumn", fault="server", reason="error")
    home.play("a", "b", "b")
    answer = home.client.get(CONTEST).json
    head = {"name": "autumn", "title": "autumn", "state": "running", "format": "open", "meetings": 5}
    head |= {"points": {"win": 3, "draw": 1, "loss": 0}, "endsAt": None, "endedAt": None}
    assert {name: answer["contest"][name] for name in head} == head
    assert answer["contest"].keys() == head.keys() | {"startsAt", "startedAt", "together"}
    names = ("rank", "bot_id", "score", "wins", "draws", "losses", "played")
    assert [tuple(row[name] for name in names) for row in answer["bots"]] == [
        (1, "a", 6, 2, 0, 0, 2),
        (2, "b", 1, 0, 1, 1, 2),
        (2, "c", 1, 0, 1, 1, 2),
        (4, "idle", 0, 0, 0, 0, 0),
    ]
    assert [game["_id"] for game in answer["games"]] == counted[::-1]
    assert "next" not in answer


def test_a_contests_name_may_hold_what_an_address_must_escape(home: House) -> None:
    """`next` is an address, not a text."""
    name = "a?b#c %26 é"
    home.contest(name, bots=("a", "b"))
    for _ in range(3):
        home.play("a", "b", "a", name)
    answer = home.client.get(f"{GAME}/contest/a%3Fb%23c%20%2526%20%C3%A9?limit=2")
    assert answer.json["contest"]["name"] == name
    assert len(home.client.get(answer.json["next"]).json["games"]) == 1


def test_following_next_gives_every_match_once(home: House) -> None:
    """Until there is no `next`; the Link header says the same."""
    home.contest(bots=("a", "b"))
    ids = [home.play("a", "b", "a", "autumn") for _ in range(5)]
    seen, address = [], f"{CONTEST}?limit=2"
    for expected in (2, 2, 1):
        answer = home.client.get(address)
        assert len(answer.json["games"]) == expected
        seen += [game["_id"] for game in answer.json["games"]]
        address = answer.json.get("next")
        assert answer.headers.get("Link") == (f'<{address}>; rel="next"' if address else None)
    assert (seen, address) == (ids[::-1], None)


def test_a_page_that_ends_with_the_last_match_has_no_next(home: House) -> None:
    """There is a `next` only where there is more."""
    home.contest(bots=("a", "b"))
    for _ in range(2):
        home.play("a", "b", "a", "autumn")
    assert "next" not in home.client.get(f"{CONTEST}?limit=2").json


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", "", "1.0", "1e1", " 1", "+1", "\u0661", "9" * 5000])
def test_a_limit_is_a_whole_number_within_bounds(home: House, limit: str) -> None:
    """1 to 1000, in plain digits."""
    home.contest()
    answer = home.client.get(CONTEST, query_string={"limit": limit})
    assert (answer.status_code, answer.json["field"], answer.json["rule"]) == (400, "limit", "bounds")


@pytest.mark.parametrize("limit", ["1", "1000", "007"])
def test_a_limit_within_bounds_is_taken(home: House, limit: str) -> None:
    """Both bounds are allowed."""
    home.contest()
    assert home.client.get(CONTEST, query_string={"limit": limit}).status_code == 200


@pytest.mark.parametrize("before", ["", "nothing", "\0", "x" * 1000])
def test_before_must_be_a_match(home: House, before: str) -> None:
    """A mistyped id gives no empty page that looks like the end."""
    home.contest()
    answer = home.client.get(CONTEST, query_string={"before": before})
    assert (answer.status_code, answer.json["field"]) == (400, "before")


WITH_A_QUERY = (
    *("", "/ratings", "/players", "/player", "/contests", "/contest/autumn"),
    *(f"/contests/autumn/{part}" for part in ("meetings", "why", "crosstable", "export.csv", "export.ndjson")),
)


@pytest.mark.parametrize("path", WITH_A_QUERY)
def test_query_arguments_that_are_not_known_are_ignored(home: House, path: str) -> None:
    """By all paths that know some."""
    home.contest(bots=("a", "b"))
    home.play("a", "b", None, "autumn")
    query = {"bot": "a", "name": "a", "other": "x"}
    assert home.client.get(f"{GAME}{path}", query_string=query).status_code == 200


@pytest.mark.parametrize(
    ("path", "field"),
    [
        *((path, "fault") for path in ("", "/contest/autumn", "/contests/autumn/export.csv")),
        *((path, "void") for path in ("/contest/autumn", "/contests/autumn/export.csv")),
        *((path, "format") for path in ("/players", "/player")),
        ("/contests", "state"),
    ],
)
def test_a_word_that_a_query_argument_cannot_be_is_refused_alike_by_all_paths(
    home: House, path: str, field: str
) -> None:
    """In a sentence that names the argument."""
    home.contest()
    answer = home.client.get(f"{GAME}{path}", query_string={field: "x", "name": "a"}).json
    assert (answer["code"], answer["field"], answer["rule"]) == ("bad-message", field, "choice")
    assert answer["error"].startswith(f"{field} must be one of ")


def test_empty_lists_are_lists(client: FlaskClient) -> None:
    """Nothing has been played and nobody is registered."""
    assert client.get(GAME).json == []
    assert client.get("/bots/noughtsandcrosses").json == []


def test_matches_are_listed_by_whose_fault_their_end_was(home: House) -> None:
    """Of a game and of a contest; void ones too, since it is those that an organiser looks for."""
    home.contest(bots=("a", "b"))
    faults = ["none", "bot", "network", "server", "bot"]
    ends = {"none": "complete", "bot": "timeout", "network": "disconnect", "server": "error"}
    ids = [home.play("a", "b", None, "autumn", fault=fault, reason=ends[fault], n=n) for n, fault in enumerate(faults)]
    for fault in set(faults):
        wanted = [match_id for match_id, found in zip(ids, faults, strict=True) if found == fault][::-1]
        assert [game["_id"] for game in home.client.get(f"{GAME}?fault={fault}").json] == wanted
        assert [game["_id"] for game in home.client.get(f"{CONTEST}?fault={fault}").json["games"]] == wanted
    first = home.client.get(f"{CONTEST}?fault=bot&limit=1").json
    assert [game["_id"] for game in first["games"]] == [ids[4]]
    assert [game["_id"] for game in home.client.get(first["next"]).json["games"]] == [ids[1]]
    lines = home.client.get(f"{GAME}/contests/autumn/export.ndjson?fault=server").text.splitlines()
    assert [json.loads(line)["_id"] for line in lines] == [ids[3]]
    assert home.client.get(f"{GAME}/contests/autumn/export.csv?fault=bot").text.count("\n") == 3


@pytest.mark.parametrize("path", [GAME, CONTEST, f"{GAME}/contests/autumn/export.csv"])
def test_a_fault_that_does_not_exist_is_refused(home: House, path: str) -> None:
    """An unknown word is not taken for none."""
    home.contest()
    answer = home.client.get(f"{path}?fault=weather")
    assert (answer.status_code, answer.json["field"]) == (400, "fault")


def test_a_match_says_in_a_sentence_how_it_ended(home: House) -> None:
    """The same in the list and in its own JSON."""
    match_id = home.play("a", "b", "a", reason="timeout", fault="bot")
    sentence = "a won: b did not answer in time. The fault lies with the bot."
    assert home.client.get(f"{GAME}/{match_id}").json["match"]["sentence"] == sentence
    assert home.client.get(GAME).json[0]["match"]["sentence"] == sentence


def test_the_faulty_matches_of_a_game_are_found_by_an_index(home: House) -> None:
    """They are few among many."""
    for fault in ("bot", "network", "server"):
        plan = home.storage.database["games"].find({"game": "x", "match.fault": fault}).sort("match.seq", -1).explain()
        assert "match.fault" in str(plan["queryPlanner"]["winningPlan"])
