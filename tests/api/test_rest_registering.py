"""Registering a bot over REST: what is accepted, what is refused and how."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from webhouse import House, house

from battlebot.config import Settings
from battlebot.storage.vault import Vault


@pytest.mark.parametrize("path", ["/bots/numberwang", "/games/numberwang", "/bots/connectfour"])
def test_a_bot_registers_at_either_path(client: FlaskClient, path: str) -> None:
    """The original server has /bots, the original contests have /games."""
    answer = client.post(path, json={"bot_id": "MyAwesomeBot", "owner": "David"})
    assert answer.status_code == 201
    assert list(answer.json) == ["game", "bot_id", "pass_hash"]
    assert (answer.json["game"], answer.json["bot_id"]) == (path.split("/")[-1], "MyAwesomeBot")
    assert re.fullmatch("[0-9a-f]{64}", answer.json["pass_hash"])
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    "body",
    [
        '{"bot_id": "x"}',
        '{"bot_id": "x", "owner": ""}',
        '{"bot_id": "x", "owner": null}',
        '{"bot_id": "x", "other": [1]}',
    ],
)
def test_an_owner_that_is_not_named_is_anonymous(client: FlaskClient, body: str) -> None:
    """Keys that we do not know are ignored."""
    assert client.post("/bots/numberwang", data=body).status_code == 201
    assert client.get("/bots/numberwang").json[0]["owner"] == "Anonymous"


@pytest.mark.parametrize("content_type", [None, "application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_is_json_whatever_it_is_called(client: FlaskClient, content_type: str | None) -> None:
    """curl without a header says that it sends a form."""
    answer = client.post("/bots/numberwang", data=b'{"bot_id": "x"}', content_type=content_type)
    assert answer.status_code == 201


def test_a_byte_order_mark_before_a_body_is_ignored(client: FlaskClient) -> None:
    """Some clients on Windows send one, and the original server ignored it. One further in is none."""
    mark = b"\xef\xbb\xbf"
    assert client.post("/bots/numberwang", data=mark + b'{"bot_id": "x"}').status_code == 201
    refused = {"nothing else": mark, "two marks": mark + mark + b'{"bot_id": "y"}', "behind": b'{"bot_id": "y"}' + mark}
    for name, body in refused.items():
        answer = client.post("/bots/numberwang", data=body)
        assert (answer.status_code, answer.json["code"]) == (400, "bad-message"), name
    twice = client.post("/bots/numberwang", data=mark + b'{"bot_id": "y", "bot_id": "z"}')
    assert (twice.status_code, twice.json["rule"]) == (400, "unique")


def test_the_list_of_bots_holds_no_secret(client: FlaskClient) -> None:
    """Oldest first, three keys a row."""
    secrets = [client.post("/bots/numberwang", json={"bot_id": name}).json["pass_hash"] for name in "ba"]
    client.post("/bots/connectfour", json={"bot_id": "elsewhere"})
    answer = client.get("/bots/numberwang")
    assert [row["bot_id"] for row in answer.json] == ["b", "a"]
    assert all(list(row) == ["bot_id", "owner", "date_registered"] for row in answer.json)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer.json[0]["date_registered"])
    assert not any(secret in answer.text for secret in secrets)


def test_a_name_is_taken_over_the_whole_server(client: FlaskClient) -> None:
    """Also in another game."""
    client.post("/bots/numberwang", json={"bot_id": "x"})
    answer = client.post("/bots/connectfour", json={"bot_id": "x"})
    assert (answer.status_code, answer.json["code"], answer.json["field"]) == (409, "name-taken", "bot_id")


BAD_BODIES = {
    "empty": (b"", "bad-message", None),
    "no JSON": (b"bot_id=x", "bad-message", None),
    "cut short": (b'{"bot_id": "x"', "bad-message", None),
    "a list": (b'["x"]', "bad-message", None),
    "a string": (b'"x"', "bad-message", None),
    "null": (b"null", "bad-message", None),
    "NaN": (b'{"bot_id": "x", "n": NaN}', "bad-message", None),
    "no UTF-8": (b'{"bot_id": "\xff"}', "bad-message", None),
    "UTF-16": ('{"bot_id": "x"}'.encode("utf-16"), "bad-message", None),
    "a lone surrogate": (rb'{"bot_id": "\ud800"}', "bad-message", None),
    "deep": (b'{"bot_id": ' + b"[" * 17 + b"]" * 17 + b"}", "bad-message", None),
    "very deep": (b'{"bot_id": ' + b"[" * 30_000, "bad-message", None),
    "a key twice": (b'{"bot_id": "x", "bot_id": "y"}', "bad-message", "bot_id"),
    "a key twice further in": (b'{"bot_id": "x", "n": [{"a": 1, "a": 2}]}', "bad-message", "a"),
    "no name": (b"{}", "bad-message", "bot_id"),
    "null as name": (b'{"bot_id": null}', "bad-message", "bot_id"),
    "a number as name": (b'{"bot_id": 7}', "bad-name", "bot_id"),
    "a number of 300 digits as name": (b'{"bot_id": 1' + b"0" * 300 + b"}", "bad-name", "bot_id"),
    "a float as name": (b'{"bot_id": 1.5}', "bad-name", "bot_id"),
    "a number of 5000 digits": (b'{"bot_id": "x", "n": 1' + b"0" * 5000 + b"}", "bad-message", None),
    "an empty name": (b'{"bot_id": ""}', "bad-name", "bot_id"),
    "a long name": (b'{"bot_id": "' + b"x" * 65 + b'"}', "bad-name", "bot_id"),
    "a slash": (b'{"bot_id": "a/b"}', "bad-name", "bot_id"),
    "a control character": (rb'{"bot_id": "a\u0000b"}', "bad-name", "bot_id"),
    "a list as owner": (b'{"bot_id": "x", "owner": []}', "bad-name", "owner"),
}


@pytest.mark.parametrize(("body", "code", "field"), BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_bad_body_is_400_and_says_why(client: FlaskClient, body: bytes, code: str, field: str | None) -> None:
    """Never a 500, and nothing is registered."""
    answer = client.post("/bots/numberwang", data=body)
    assert (answer.status_code, answer.json["code"], answer.json.get("field")) == (400, code, field)
    assert answer.json["error"].endswith(".")
    assert client.get("/bots/numberwang").json == []


def test_the_last_of_many_keys_twice_is_found_soon(settings: Settings) -> None:
    """No bot's turn waits for it: the time grows with the body's length, not with its square."""
    keys = [f'"{number:x}":1' for number in range(28_000)]
    body = f"{{{','.join([*keys, keys[-1]])}}}"
    with house(replace(settings, max_body_bytes=len(body))) as opened:
        began_s = time.process_time()
        answer = opened.client.post("/bots/numberwang", data=body)
        took_s = time.process_time() - began_s
    assert (answer.status_code, answer.json["code"], answer.json["rule"]) == (400, "bad-message", "unique")
    assert answer.json["field"] == f"{len(keys) - 1:x}"
    assert took_s < 1


def test_too_large_a_body_is_413(home: House) -> None:
    """Whatever it says of its length."""
    body = b'{"bot_id": "' + b"x" * home.context.settings.max_body_bytes + b'"}'
    answer = home.client.post("/bots/numberwang", data=body)
    assert (answer.status_code, answer.json["code"]) == (413, "too-large")


def test_a_name_that_looks_like_one_that_is_taken_is_taken(client: FlaskClient) -> None:
    """In Cyrillic letters, with no Latin one among them; the one that came first has the name."""
    assert client.post("/bots/numberwang", json={"bot_id": "ace"}).status_code == 201
    answer = client.post("/bots/connectfour", json={"bot_id": "\u0430\u0441\u0435"})
    assert (answer.status_code, answer.json["code"], answer.json["field"]) == (409, "name-taken", "bot_id")
    assert "looks like one that is taken" in answer.json["error"]
    assert client.post("/bots/numberwang", json={"bot_id": "\u0430\u0441\u0435\u0431"}).status_code == 201


@pytest.mark.parametrize("path", ["/bots/chess", "/games/chess"])
def test_an_unknown_game_is_404_before_anything_else(client: FlaskClient, path: str) -> None:
    """The sentence names the games that there are."""
    answer = client.post(path, data=b"nonsense")
    assert (answer.status_code, answer.json["code"]) == (404, "unknown-game")
    assert "connectfour" in answer.json["error"]


def test_one_address_registers_so_many_bots_an_hour_and_no_more(settings: Settings) -> None:
    """Both paths count together; another address is not held up; IPv6 counts by the network."""
    with house(replace(settings, registrations_per_hour=3)) as opened:
        opened.redis.flushall()

        def register(path: str, address: str) -> int:
            name = f"bot{next(numbers)}"
            return opened.client.post(
                f"{path}/numberwang", json={"bot_id": name}, environ_base={"REMOTE_ADDR": address}
            ).status_code

        numbers = iter(range(100))
        assert [register(path, "192.0.2.1") for path in ("/bots", "/games", "/bots")] == [201, 201, 201]
        assert register("/games", "192.0.2.1") == 429
        assert register("/bots", "192.0.2.2") == 201
        assert [register("/bots", f"2001:db8::{n}") for n in range(4)] == [201, 201, 201, 429]
        refused = opened.client.post("/bots/numberwang", data="", environ_base={"REMOTE_ADDR": "192.0.2.1"})
        assert (refused.status_code, refused.json["code"]) == (429, "too-many")
        assert 1 <= int(refused.headers["Retry-After"]) <= 3600
        assert opened.client.get("/bots/numberwang", environ_base={"REMOTE_ADDR": "192.0.2.1"}).status_code == 200


def test_without_redis_nobody_is_refused(settings: Settings) -> None:
    """The limit fails open."""
    with house(replace(settings, registrations_per_hour=1, redis_url="unix:///nowhere/valkey.sock")) as opened:
        for name in "abc":
            assert opened.client.post("/bots/numberwang", json={"bot_id": name}).status_code == 201


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT"])
def test_an_owner_whose_bots_key_is_unknown_here_is_told_to_come_back(home: House, method: str) -> None:
    """503, and not that the password is wrong: only this node's SECRET_KEY is."""
    pass_hash = "0" * 64
    sealed = Vault("another key of this test").seal(pass_hash)
    home.storage.bots.register("numberwang", "rotated", "owner", sealed, "rotated")
    headers = {"Authorization": f"Bearer {pass_hash}"}
    path = "/bots/numberwang/rotated" + ("/pass_hash" if method == "PUT" else "")
    body = {"available": True, "pass_hash": "1" * 64}
    answer = home.client.open(path, method=method, headers=headers, json=body)
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
    assert "Retry-After" in answer.headers
    assert "key" not in answer.text.lower()


@pytest.mark.parametrize(
    ("body", "field"), [({}, "url"), ({"foo": 1}, "url"), ({"url": None}, "url"), ({"available": False}, "available")]
)
def test_a_bot_without_a_url_has_nothing_to_be_changed(
    client: FlaskClient, body: dict[str, object], field: str
) -> None:
    """The field is the one that was sent, or the one that would help."""
    bot = client.post("/bots/numberwang", json={"bot_id": "x"}).json
    headers = {"Authorization": f"Bearer {bot['pass_hash']}"}
    answer = client.patch("/bots/numberwang/x", json=body, headers=headers)
    assert (answer.status_code, answer.json["code"], answer.json["field"]) == (400, "refused", field)


def test_what_an_owner_is_told_of_its_bot_is_kept_by_no_cache(client: FlaskClient) -> None:
    """Nor by that of a browser: the bot's url is told to nobody else."""
    bot = client.post("/bots/numberwang", json={"bot_id": "x"}).json
    answer = client.get("/bots/numberwang/x", headers={"Authorization": f"Bearer {bot['pass_hash']}"})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")


def test_an_owner_gives_its_bot_another_pass_hash(client: FlaskClient) -> None:
    """Asked again, with the new one, it says the same: so an answer that was lost is no harm."""
    old, new = (client.post("/bots/numberwang", json={"bot_id": "x"}).json["pass_hash"], "1f" * 32)
    for given in (old, new, new):
        headers = {"Authorization": f"Bearer {given}"}
        answer = client.put("/bots/numberwang/x/pass_hash", json={"pass_hash": new}, headers=headers)
        assert (answer.status_code, answer.json) == (200, {"game": "numberwang", "bot_id": "x"})
        assert answer.headers["Cache-Control"] == "no-store"
    for given, game, status in ((old, "numberwang", 401), (new, "gomoku", 401), (new, "numberwang", 200)):
        headers = {"Authorization": f"Bearer {given}"}
        answer = client.put(f"/bots/{game}/x/pass_hash", json={"pass_hash": new}, headers=headers)
        assert answer.status_code == status


@pytest.mark.parametrize("wrong", ["password", "A" * 64, "a" * 63, "a" * 64 + "\n", "\u0661" * 64, 7, None, ["a"]])
def test_a_pass_hash_is_64_hex_digits(client: FlaskClient, wrong: object) -> None:
    """What the login's protocol takes; else nothing is changed."""
    headers = {"Authorization": f"Bearer {client.post('/bots/numberwang', json={'bot_id': 'x'}).json['pass_hash']}"}
    answer = client.put("/bots/numberwang/x/pass_hash", json={"pass_hash": wrong}, headers=headers)
    assert (answer.status_code, answer.json["field"]) == (400, "pass_hash")
    assert client.get("/bots/numberwang/x", headers=headers).status_code == 200
