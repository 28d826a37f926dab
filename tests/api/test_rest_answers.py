"""What holds for every answer: errors in one form, headers, health, the description."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pymongo
import pytest
from bson import ObjectId
from flask import Flask
from flask.testing import FlaskClient
from lefttocollector import left_of
from webhouse import House, house

from battlebot.config import Settings

METHODS = {"get", "post", "patch", "delete"}
PATHS = ("/healthz", "/bots/numberwang", "/games/chess", "/nowhere", "/", "/web/numberwang", "/web/chess", "/docs")


@contextmanager
def without_mongodb(settings: Settings) -> Iterator[House]:
    """An app whose MongoDB is away, and which waits for it as short as the test does."""
    nowhere = replace(settings, mongodb_uri="mongodb://127.0.0.1:1/?directConnection=true")
    with house(nowhere, 0.2) as opened, pymongo.timeout(0.2):
        yield opened


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_tells_the_browser_what_it_may_not_do(client: FlaskClient, path: str) -> None:
    """Errors and pages too."""
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_any_page_may_read_json_and_only_json(client: FlaskClient) -> None:
    """Without credentials; nothing of ours depends on any."""
    for path, allowed in {"/bots/numberwang": "*", "/games/chess": "*", "/": None, "/web/numberwang": None}.items():
        headers = client.get(path, headers={"Origin": "https://example.org"}).headers
        assert headers.get("Access-Control-Allow-Origin") == allowed
        assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_a_method_that_a_path_does_not_know_is_405(client: FlaskClient, method: str) -> None:
    """With the methods that it does know."""
    answer = getattr(client, method)("/bots/numberwang")
    assert (answer.status_code, answer.json["code"]) == (405, "method-not-allowed")
    assert {"GET", "POST"} <= {name.strip() for name in answer.headers["Allow"].split(",")}


@pytest.mark.parametrize("path", ["/games/numberwang", "/games/numberwang/x", "/bots/numberwang"])
def test_without_mongodb_json_is_503(settings: Settings, path: str) -> None:
    """A sentence and a code; when to come back."""
    with without_mongodb(settings) as opened:
        answer = opened.client.get(path)
        assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        registering = opened.client.post("/bots/numberwang", json={"bot_id": "x"})
        assert (registering.status_code, registering.json["code"]) == (503, "unavailable")


@pytest.mark.parametrize("path", ["/", "/web/numberwang"])
def test_without_mongodb_a_page_says_what_it_leaves_out(settings: Settings, path: str) -> None:
    """What Redis and the games tell is there, though nobody has seen the page before."""
    with without_mongodb(settings) as opened:
        answer = opened.client.get(path)
        assert (answer.status_code, answer.mimetype) == (200, "text/html")
        assert "left out of this page" in answer.text
        assert "Contests cannot be shown" in answer.text


@pytest.mark.parametrize("path", ["/web/numberwang/contests/x", "/web/numberwang/matches/x"])
def test_without_mongodb_a_page_of_stored_things_is_a_503_page(settings: Settings, path: str) -> None:
    """For people, and without a traceback."""
    with without_mongodb(settings) as opened:
        answer = opened.client.get(path)
        assert (answer.status_code, answer.mimetype) == (503, "text/html")
        assert "unavailable" in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(("path", "mimetype"), [("/broken", "application/json"), ("/web/broken/x/y", "text/html")])
def test_a_fault_of_ours_is_500_without_a_word_of_it(settings: Settings, path: str, mimetype: str) -> None:
    """What went wrong stands in the log alone."""

    def fail() -> str:
        raise RuntimeError("a secret of ours")

    with house(settings) as opened:
        opened.app.add_url_rule(path, "broken", fail)
        opened.app.testing = True  # Flask would hand the exception on now
        answer = opened.client.get(path)
    assert (answer.status_code, answer.mimetype) == (500, mimetype)
    assert "secret of ours" not in answer.text
    assert "internal" in answer.text


def test_a_slash_at_the_end_changes_nothing(home: House) -> None:
    """The original server took its paths with and without; a redirect would lose what is posted."""
    game = "/games/noughtsandcrosses"
    home.contest(bots=("a", "b"))
    match_id = home.play("a", "b", "a", "autumn")
    for path in ("/bots/noughtsandcrosses", game, f"{game}/{match_id}", f"{game}/contest/autumn"):
        answer = home.client.get(f"{path}/")
        assert (answer.status_code, answer.json) == (200, home.client.get(path).json)
    for bot, path in (("c", "/bots/noughtsandcrosses/"), ("d", f"{game}/")):
        assert home.client.post(path, json={"bot_id": bot}).status_code == 201
    assert home.client.get("/bots/noughtsandcrosses//").status_code == 404


def test_healthz_asks_nobody(settings: Settings) -> None:
    """It answers with both stores away."""
    nowhere = replace(settings, mongodb_uri="mongodb://127.0.0.1:1/", redis_url="unix:///nowhere/valkey.sock")
    with house(nowhere, 0.2) as opened:
        answer = opened.client.get("/healthz")
        assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_readyz_says_which_part_does_not_answer(home: House) -> None:
    """200 only where all do."""
    well = {"redis": "ok", "mongodb": "ok", "worker": "ok", "since": {}}
    assert home.client.get("/readyz").json == {"status": "ok", **well}
    home.parts["worker"] = "No worker answers."
    answer = home.client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json == {"status": "unavailable", **well, "worker": "No worker answers."}


def test_every_json_path_is_described(home: House) -> None:
    """OpenAPI has each rule of the described blueprints with its methods, and an error body for what fails."""
    document = home.client.get("/openapi.json").json
    described = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    for rule in home.app.url_map.iter_rules():
        if rule.endpoint.split(".")[0] not in ("pages", "docs", "guides", "openapi", "api-docs"):
            path = re.sub(r"<(?:[^>]+:)?([^>]+)>", r"{\1}", rule.rule)
            assert {(path, method) for method in rule.methods - {"HEAD", "OPTIONS"}} <= described
    post = document["paths"]["/bots/{game}"]["post"]
    assert {"201", "400", "404", "409", "413", "429"} <= post["responses"].keys()
    withdraw = document["paths"]["/games/{game}/contests/{name}/entrants/{bot}"]["delete"]
    assert {"400", "401", "404", "409", "414"} <= withdraw["responses"].keys()
    assert {"408", "413", "414"} <= document["paths"]["/bots/{game}/{bot_id}"]["patch"]["responses"].keys()
    assert {"408", "413"} <= document["paths"]["/games/{game}/contests/{name}"]["delete"]["responses"].keys()
    assert {"200", "503"} <= document["paths"]["/readyz"]["get"]["responses"].keys()
    assert {"400", "401", "429"} <= document["paths"]["/bots/{game}/{bot_id}/test"]["post"]["responses"].keys()
    operations = [(path, item[method]) for path, item in document["paths"].items() for method in METHODS & item.keys()]
    assert [path for path, one in operations if "503" not in one["responses"]] == ["/healthz"]
    assert document["components"]["schemas"]["ErrorBody"]["required"] == ["code", "error"]
    registration = document["components"]["schemas"]["Registration"]["properties"]
    kinds = {name: field.get("type") for name, field in registration.items()}
    assert kinds == {"bot_id": "string", "owner": "string", "url": "string", "available": "boolean"}


def test_every_count_is_described_with_its_bounds(home: House) -> None:
    """What is outside of them is a 400."""
    paths = home.client.get("/openapi.json").json["paths"]
    operations = [item["get"] for item in paths.values() if "get" in item]
    described = [one for operation in operations for one in operation.get("parameters", ())]
    counts = [one["schema"] for one in described if one.get("name") in ("limit", "offset")]
    assert len(counts) > 5
    assert [one for one in counts if not one.keys() >= {"minimum", "maximum"}] == []


def test_any_page_may_follow_what_happens(home: House) -> None:
    """Server-sent events are read by pages, wherever these come from."""
    home.contest(bots=("a", "b"))
    for path in ("/games/noughtsandcrosses/contests/autumn/events", "/games/gomoku/live/events"):
        answer = home.client.get(path, headers={"Origin": "https://example.org"}, buffered=False)
        assert (answer.mimetype, answer.headers["Access-Control-Allow-Origin"]) == ("text/event-stream", "*")
        answer.close()


def test_the_description_can_be_read_by_people(home: House) -> None:
    """Every path of openapi.json stands in /docs, which loads nothing from elsewhere."""
    text = home.client.get("/docs").text
    assert all(path in text for path in home.client.get("/openapi.json").json["paths"])
    assert not re.search(r'(src|href)="(https?:)?//', text)


JSON_VALUES = [
    (datetime(2026, 1, 2, 3, 4, 5, 678_999, UTC), '"2026-01-02T03:04:05.678Z"'),
    (datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02T03:04:05.000Z"'),
    (datetime(2026, 1, 2, 3, 4, 5, 0, timezone(timedelta(hours=2))), '"2026-01-02T01:04:05.000Z"'),
    (ObjectId("0123456789abcdef01234567"), '"0123456789abcdef01234567"'),
    ({"b": [1, None, True], "a": "é"}, '{"b":[1,null,true],"a":"é"}'),
    (math.nan, "null"),
]


@pytest.mark.parametrize(("value", "text"), JSON_VALUES)
def test_json_is_written_so(home: House, value: object, text: str) -> None:
    """Milliseconds, Z, keys in their order."""
    app: Flask = home.app
    assert app.json.dumps(value) == text


REFUSED = {
    "no such path": ("GET", "/nowhere", None, 404),
    "no such method": ("DELETE", "/bots/numberwang", None, 405),
    "a query of another form": ("GET", "/games/numberwang?limit=-1", None, 400),
    "a name that is taken": ("POST", "/bots/numberwang", {"bot_id": "taken"}, 409),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_request_is_not_left_to_the_collector(client: FlaskClient, kind: str) -> None:
    """It runs seldom in a node, and until then each would stay in memory with its body and its headers."""
    client.post("/bots/numberwang", json={"bot_id": "taken"})
    method, path, body, status = REFUSED[kind]

    def refused() -> None:
        assert client.open(path, method=method, json=body).status_code == status

    assert not left_of(Flask.wsgi_app, refused)
