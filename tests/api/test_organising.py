"""What organisers do over REST: scheduling, changing, starting, ending, entrants, taking matches back."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cup import cup
from webhouse import CONTESTS, House

GAME = "noughtsandcrosses"
FUTURE = "2126-12-01T10:00:00+02:00"


def contest(home: House, **fields: Any) -> dict[str, Any]:
    """A contest as it was made."""
    answer = home.organise("POST", "", {"name": "cup", **fields})
    assert answer.status_code == 201, answer.json
    return answer.json


def test_a_contest_is_scheduled_with_all_its_fields(home: House) -> None:
    """Moments come back in UTC; Location leads to it."""
    home.register("a", "b", "c")
    given = {
        "title": "The Cup",
        "format": "swiss",
        "config": {"rounds": 2},
        "startsAt": FUTURE,
        "endsAt": "2126-12-02t10:00:00.5z",
        "meetings": 3,
        "entrants": ["a", "b", "c"],
        "options": {},
        "turnTimeoutMs": 500,
        "points": {"win": 2},
        "absentAfterS": 7,
        "absentCounts": "void",
    }
    answer = home.organise("POST", "", {"name": "cup é", **given})
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{CONTESTS}/cup%20%C3%A9"
    made = home.client.get(answer.headers["Location"]).json
    changed = {
        "startsAt": "2126-12-01T08:00:00.000Z",
        "endsAt": "2126-12-02T10:00:00.500Z",
        "points": {"win": 2, "draw": 1, "loss": 0},
    }
    assert {name: made[name] for name in given} == given | changed
    rest = {"game": GAME, "name": "cup é", "state": "scheduled", "withdrawn": [], "startedAt": None, "endedAt": None}
    assert {name: made[name] for name in rest} == rest
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["createdAt"])
    # two rounds of a field of three: a pairing each
    assert made["progress"] == {"played": 0, "planned": 2, "live": 0}
    assert made.keys() - {"progress"} == answer.json.keys()


def test_a_name_alone_is_enough(home: House) -> None:
    """The rest is as for a contest that a login opens."""
    made = contest(home)
    expected = {
        "title": "cup",
        "format": "open",
        "meetings": 5,
        "entrants": "open",
        "turnTimeoutMs": None,
        "points": {"win": 3, "draw": 1, "loss": 0},
        "absentAfterS": 60,
        "absentCounts": "loss",
        "startsAt": None,
    }
    assert {name: made[name] for name in expected} == expected


BAD = [
    ({"name": None}, "name", None),
    ({"name": "a/b"}, "name", None),
    ({"name": ""}, "name", None),
    ({"meetings": 6}, "meetings", "bounds"),
    ({"meetings": 0}, "meetings", "bounds"),
    ({"meetings": "5"}, "meetings", "bounds"),
    ({"meetings": 5.0}, "meetings", "bounds"),
    ({"meetings": True}, "meetings", "bounds"),
    ({"meetings": None}, "meetings", None),
    ({"turnTimeoutMs": 99}, "turnTimeoutMs", "bounds"),
    ({"turnTimeoutMs": 3_600_001}, "turnTimeoutMs", "bounds"),
    ({"absentAfterS": 0}, "absentAfterS", "bounds"),
    ({"absentCounts": "draw"}, "absentCounts", "choice"),
    ({"startsAt": "2126-12-01T10:00:00"}, "startsAt", "moment"),
    ({"startsAt": "2126-12-01"}, "startsAt", "moment"),
    ({"startsAt": "tomorrow"}, "startsAt", "moment"),
    ({"startsAt": 1_700_000_000}, "startsAt", "moment"),
    ({"startsAt": "0001-01-01T00:00:00+14:00"}, "startsAt", "moment"),
    ({"startsAt": "2126-13-01T10:00:00Z"}, "startsAt", "moment"),
    ({"startsAt": FUTURE, "endsAt": FUTURE}, "endsAt", None),
    ({"endsAt": "2020-12-01T10:00:00Z"}, "endsAt", "future"),
    ({"points": {"win": 3, "draws": 1}}, "points", "object"),
    ({"points": {"win": 1.5}}, "points", "bounds"),
    ({"points": {"win": -1}}, "points", "bounds"),
    ({"points": {"loss": 4}}, "points", "order"),
    ({"points": [3, 1, 0]}, "points", "object"),
    ({"title": " "}, "title", "text"),
    ({"title": "a\nb"}, "title", "text"),
    ({"title": "x" * 101}, "title", "text"),
    ({"entrants": "closed"}, "entrants", "list"),
    ({"entrants": ["a", "a"]}, "entrants", "unique"),
    ({"entrants": ["a", 1]}, "entrants", None),
    ({"options": {"x": 1}}, "options", None),
    ({"entrants": ["nobody"]}, "entrants", None),
    ({"format": "round-robin"}, "entrants", None),
    ({"format": "chess960"}, "format", None),
    ({"format": "swiss", "entrants": ["a", "b"], "config": {"rounds": 99}}, "rounds", None),
    ({"config": {"rounds": 1}}, "rounds", None),
    ({"config": []}, "config", "object"),
    ({"meeting": 3}, "meeting", "unknown"),
    ({"state": "running"}, "state", "unknown"),
]


@pytest.mark.parametrize(("fields", "field", "rule"), BAD, ids=[str(row[0])[:50] for row in BAD])
def test_what_is_not_acceptable_is_400_with_the_field(
    home: House, fields: dict[str, Any], field: str, rule: str | None
) -> None:
    """In the one form of all errors; nothing is stored."""
    home.register("a", "b")
    answer = home.organise("POST", "", {"name": "cup", **fields})
    assert (answer.status_code, answer.json["field"]) == (400, field), answer.json
    assert rule is None or answer.json["rule"] == rule
    assert {"error", "code"} <= answer.json.keys()
    assert home.client.get(CONTESTS).json == {"contests": []}


def test_of_several_the_one_that_is_wrong_is_named(home: House) -> None:
    """An entrant by its place, from 0 as programs count; an option by its name."""
    home.register("a")
    for entrants in (["a", 5], ["a", "b/c"]):
        answer = home.organise("POST", "", {"name": "cup", "entrants": entrants})
        assert answer.json["error"].startswith("entrants[1] must ")
    options = home.organise("POST", "", {"name": "cup", "options": {"x": 1}})
    assert (options.json["field"], options.json["option"]) == ("options", "x")
    contest(home, format="round-robin", entrants=["a"])
    bots = home.organise("POST", "/cup/entrants", {"bots": [["a"]]})
    assert (bots.json["error"], bots.json["field"]) == ("bots[0] must be a string.", "bots")


def test_points_are_described_with_their_bounds(home: House) -> None:
    """What is outside of them is a 400."""
    schema = home.client.get("/openapi.json").json["components"]["schemas"]["NewContest"]["properties"]["points"]
    of_a_win = schema["properties"]["win"]
    assert (of_a_win["minimum"], of_a_win["maximum"], of_a_win["default"]) == (0, 1000, 3)
    assert contest(home, points={"win": 1000})["points"] == {"win": 1000, "draw": 1, "loss": 0}
    refused = home.organise("POST", "", {"name": "high", "points": {"win": 1001}})
    assert (refused.status_code, refused.json["field"], refused.json["rule"]) == (400, "points", "bounds")


def test_a_body_must_be_an_object_with_a_name(home: House) -> None:
    """Nothing, no JSON, no name."""
    assert home.organise("POST", "", {}).json["field"] == "name"
    answer = home.client.post(CONTESTS, headers={"Authorization": f"Bearer {home.storage.tokens.create('x')}"})
    assert (answer.status_code, answer.json["rule"]) == (400, "json")


def test_a_name_is_used_once(home: House) -> None:
    """409; another game has contests of its own."""
    contest(home)
    again = home.organise("POST", "", {"name": "cup"})
    assert (again.status_code, again.json["code"]) == (409, "name-taken")


def test_what_is_not_there_is_404(home: House) -> None:
    """For each method, with a token."""
    for method, path, body in (
        ("PATCH", "/none", {"title": "x"}),
        ("DELETE", "/none", None),
        ("POST", "/none/start", {}),
        ("POST", "/none/entrants", {"bot": "a"}),
        ("DELETE", "/none/entrants/a", None),
        ("POST", "/none/games/m/void", {"reason": "x"}),
    ):
        answer = home.organise(method, path, body)
        assert (path, answer.status_code, answer.json["code"]) == (path, 404, "unknown-contest")
    contest(home)
    assert home.organise("POST", "/cup/explode").status_code in (404, 405)


def test_changes_are_made_as_long_as_they_may_be(home: House) -> None:
    """All before the start, little after it, nothing after the end."""
    home.register("a", "b")
    contest(home)
    changes = {"meetings": 2, "format": "round-robin", "entrants": ["a", "b"], "startsAt": None}
    assert home.organise("PATCH", "/cup", changes).json["meetings"] == 2
    assert home.organise("POST", "/cup/start").json["state"] == "running"
    assert home.organise("PATCH", "/cup", {"title": "Cup!", "endsAt": FUTURE}).json["title"] == "Cup!"
    late = home.organise("PATCH", "/cup", {"meetings": 3})
    assert (late.status_code, late.json["code"], late.json["state"]) == (409, "wrong-state", "running")
    assert home.organise("PATCH", "/cup", {"name": "other"}).json["rule"] == "unknown"
    assert home.organise("PATCH", "/cup", {"endsAt": "2020-12-01T10:00:00Z"}).json["rule"] == "future"
    assert home.organise("PATCH", "/cup", {}).status_code == 400
    assert home.organise("POST", "/cup/finish").json["state"] == "finished"
    assert home.organise("PATCH", "/cup", {"title": "x"}).status_code == 409


def test_a_contest_goes_through_its_states(home: House) -> None:
    """What the state does not allow is 409; all is in the audit, newest first."""
    contest(home)
    for action, status, state in (
        ("pause", 409, None),
        ("start", 200, "running"),
        ("start", 409, None),
        ("pause", 200, "paused"),
        ("resume", 200, "running"),
        ("finish", 200, "finished"),
        ("resume", 409, None),
    ):
        answer = home.organise("POST", f"/cup/{action}")
        assert (action, answer.status_code, answer.json.get("state") if state else None) == (action, status, state)
    assert home.organise("DELETE", "/cup").status_code == 409
    audit = home.client.get(f"{CONTESTS}/cup/audit").json
    assert [row["action"] for row in audit] == ["finish", "resume", "pause", "start", "create"]
    assert all(row["by"].startswith("organiser ") for row in audit)


def test_cancelling_keeps_the_record(home: House) -> None:
    """It is still to be seen, and its name stays taken."""
    contest(home)
    assert home.organise("DELETE", "/cup").json["state"] == "cancelled"
    shown = home.client.get(f"{CONTESTS}/cup").json
    assert (shown["state"], shown["endedAt"] is None) == ("cancelled", False)
    assert home.organise("POST", "", {"name": "cup"}).status_code == 409


def test_entrants_come_and_go(home: House) -> None:
    """Before the start anybody, later only whoever was withdrawn."""
    home.register("a", "b", "c", "d")
    contest(home, format="round-robin", entrants=["a"])
    assert home.organise("POST", "/cup/entrants", {"bot": "b"}).json["entrants"] == ["a", "b"]
    assert home.organise("POST", "/cup/entrants", {"bots": ["b", "c"]}).json["entrants"] == ["a", "b", "c"]
    for body in ({}, {"bot": "d", "bots": ["d"]}, {"bots": "d"}, {"bot": ["d"]}, {"bots": ["nobody"]}):
        assert home.organise("POST", "/cup/entrants", body).status_code == 400
    home.organise("POST", "/cup/start")
    assert home.organise("POST", "/cup/entrants", {"bot": "d"}).status_code == 409
    assert home.organise("DELETE", "/cup/entrants/b").json["withdrawn"] == ["b"]
    stranger = home.organise("DELETE", "/cup/entrants/d")
    assert (stranger.status_code, stranger.json["field"]) == (400, "bot")
    assert home.organise("POST", "/cup/entrants", {"bot": "b"}).json["withdrawn"] == []


def test_a_void_match_counts_for_nobody(home: House) -> None:
    """The standings follow, the reason is kept, twice is 409, and the contest goes on."""
    home.contest("cup", bots=("a", "b"))
    match_id = home.play("a", "b", "a", "cup")
    home.organise("POST", "/cup/finish")
    assert home.organise("POST", f"/cup/games/{match_id}/void", {}).json["field"] == "reason"
    answer = home.organise("POST", f"/cup/games/{match_id}/void", {"reason": "the server's clock"})
    assert (answer.status_code, answer.json["match"]) == (200, match_id)
    assert answer.json["contest"]["state"] == "running"
    assert home.client.get(f"/games/{GAME}/contest/cup").json["bots"][0]["played"] == 0
    assert home.client.get(f"{CONTESTS}/cup/crosstable").json["rows"][0]["against"] == {}
    void = home.client.get(f"/games/{GAME}/{match_id}").json["match"]["voided"]
    assert void["reason"] == "the server's clock"
    entry = home.client.get(f"{CONTESTS}/cup/audit").json[1]
    assert (entry["action"], entry["details"]) == ("void", {"match": match_id, "reason": "the server's clock"})
    assert home.organise("POST", f"/cup/games/{match_id}/void", {"reason": "again"}).json["code"] == "already-void"
    assert home.organise("POST", "/cup/games/nothing/void", {"reason": "again"}).json["code"] == "unknown-match"


def test_contests_are_listed_the_latest_first(home: House) -> None:
    """By state, and page by page."""
    for number in range(5):
        home.storage.contests.create(cup(game=GAME, name=f"c{number}", state="scheduled"))
        at = datetime.now(UTC) + timedelta(seconds=number)
        home.storage.database["contests"].update_one({"name": f"c{number}"}, {"$set": {"createdAt": at}})
    home.organise("POST", "/c3/start")
    seen, address = [], f"{CONTESTS}?limit=2"
    while address:
        answer = home.client.get(address)
        seen += [row["name"] for row in answer.json["contests"]]
        address = answer.json.get("next")
        assert answer.headers.get("Link") == (f'<{address}>; rel="next"' if address else None)
    assert seen == ["c4", "c3", "c2", "c1", "c0"]
    assert [row["name"] for row in home.client.get(f"{CONTESTS}?state=running").json["contests"]] == ["c3"]
    paged = home.client.get(f"{CONTESTS}?state=scheduled&limit=3").json
    assert "state=scheduled" in paged["next"]
    for query in ("state=open", "limit=0", "limit=x", "before=none"):
        assert home.client.get(f"{CONTESTS}?{query}").status_code == 400


def test_contests_of_the_same_millisecond_are_each_on_one_page(home: House) -> None:
    """Whatever the size of the pages."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    for number in range(7):
        home.storage.contests.create(cup(game=GAME, name=f"c{number}", state="scheduled"))
    home.storage.database["contests"].update_many({}, {"$set": {"createdAt": at}})
    for size in (1, 2, 3):
        seen, address = [], f"{CONTESTS}?limit={size}"
        while address:
            answer = home.client.get(address).json
            seen += [row["name"] for row in answer["contests"]]
            address = answer.get("next")
        assert seen == [f"c{number}" for number in reversed(range(7))]
