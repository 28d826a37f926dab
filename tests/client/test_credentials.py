"""Registering over REST, and the auth file."""

from __future__ import annotations

import inspect
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_server import PASS_HASH, ScriptedServer

from battlebot.client import (
    BadCredentials,
    Credentials,
    Refused,
    Unreachable,
    credentials,
    load_or_register,
    register,
    renew,
)
from battlebot.storage import Storage

REGISTERED = ("201 Created", json.dumps({"game": "numberwang", "bot_id": "Me", "pass_hash": PASS_HASH, "more": 1}))


@pytest.fixture
def server(serve: Callable[..., ScriptedServer]) -> ScriptedServer:
    """A server that registers Me for numberwang."""
    server = serve()
    server.answers["POST", "/bots/numberwang"] = REGISTERED
    return server


def test_registering_returns_the_credentials(server: ScriptedServer) -> None:
    """The body is the protocol page's; the owner is left out where there is none."""
    assert register(server.host, "numberwang", "Me", "Ann") == Credentials("numberwang", "Me", PASS_HASH, server.host)
    register(server.host, "numberwang", "Me")
    bodies = [json.loads(body) for _, _, body in server.requests]
    assert bodies == [{"bot_id": "Me", "owner": "Ann"}, {"bot_id": "Me"}]


def test_the_auth_file_is_its_owners_alone_and_has_the_keys_of_the_original(tmp_path: Path) -> None:
    """Mode 0600, also where a file that all can read was there before; what is saved is loaded."""
    path = tmp_path / "deep" / "auth.json"
    credentials = Credentials("numberwang", "Me", PASS_HASH, "localhost:3000")
    credentials.save(path)
    path.chmod(0o644)
    credentials.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(path.read_text())) == {"game", "pass_hash", "hostname", "bot_id"}
    assert Credentials.load(path) == credentials
    assert [file.name for file in path.parent.iterdir()] == ["auth.json"]


def test_the_secret_is_in_no_repr() -> None:
    """So that it gets into no log."""
    assert PASS_HASH not in repr(Credentials("numberwang", "Me", PASS_HASH))


def test_a_bot_registers_itself_once(server: ScriptedServer, tmp_path: Path) -> None:
    """The second time, the auth file is there."""
    path = tmp_path / "auth.json"
    first = load_or_register(path, server.host, "numberwang", "Me")
    assert load_or_register(path, server.host, "numberwang", "Me") == first
    assert len(server.requests) == 1
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("game", "bot_id"), [("numberwang", "You"), ("gomoku", "Me")])
def test_an_auth_file_of_another_bot_is_not_played_with(
    server: ScriptedServer, tmp_path: Path, game: str, bot_id: str
) -> None:
    """It is named; nothing is registered."""
    path = tmp_path / "auth.json"
    Credentials("numberwang", "Me", PASS_HASH).save(path)
    with pytest.raises(
        BadCredentials, match=rf"auth\.json is for .*not for '?{bot_id if game == 'numberwang' else game}"
    ):
        load_or_register(path, server.host, game, bot_id)
    assert server.requests == []


def test_a_refusal_has_the_servers_sentence_and_code(server: ScriptedServer) -> None:
    """The error bodies of the protocol page."""
    server.answers["POST", "/bots/numberwang"] = ("409 Conflict", '{"error": "Taken.", "code": "name-taken"}')
    with pytest.raises(Refused, match=r"Taken\.") as caught:
        register(server.host, "numberwang", "Me")
    assert caught.value.code == "name-taken"


@pytest.mark.parametrize(
    "answer",
    [
        ("502 Bad Gateway", "<html>"),
        ("500 Oops", '["code"]'),
        ("200 OK", "<html>"),
        ("200 OK", "[]"),
        ("201 Created", '{"game": "numberwang", "bot_id": "Me"}'),
        ("201 Created", '{"game": "numberwang", "bot_id": "Me", "pass_hash": 3}'),
    ],
)
def test_what_does_not_answer_as_the_protocol_says_is_unreachable(server: ScriptedServer, answer: Any) -> None:
    """Some other web server, or a proxy before ours."""
    server.answers["POST", "/bots/numberwang"] = answer
    with pytest.raises(Unreachable):
        register(server.host, "numberwang", "Me")


def test_the_answer_is_waited_for_longer_than_the_server_may_wait_for_its_database() -> None:
    """Else the bot could be registered and its credentials lost."""
    a_query_s = inspect.signature(Storage).parameters["answer_within_s"].default
    assert 2 * a_query_s <= credentials.REQUEST_TIMEOUT_S


def test_a_redirect_is_not_followed(server: ScriptedServer) -> None:
    """It would make a GET of the POST, and `run` follows none."""
    server.answers["POST", "/bots/numberwang"] = ("301 Moved Permanently", "")
    with pytest.raises(Unreachable, match="redirects"):
        register(server.host, "numberwang", "Me")


def test_where_nobody_listens_is_unreachable() -> None:
    """Nor does a proxy of the environment come between us and the loopback."""
    with pytest.raises(Unreachable, match="localhost:1"):
        register("localhost:1", "numberwang", "Me")


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 60_000, '{"game": "numberwang"}', '{"game": 1, "bot_id": "a", "pass_hash": "b"}']
)
def test_a_broken_auth_file_is_named(tmp_path: Path, text: str) -> None:
    """Also one that is not there."""
    path = tmp_path / "auth.json"
    with pytest.raises(BadCredentials, match=r"auth\.json"):
        Credentials.load(path)
    path.write_text(text)
    with pytest.raises(BadCredentials, match=r"auth\.json"):
        Credentials.load(path)


def test_an_auth_file_that_never_ends_is_refused() -> None:
    """It is not read until all memory is taken."""
    with pytest.raises(BadCredentials, match="/dev/zero: it has more than 65536 characters"):
        Credentials.load("/dev/zero")


def test_a_server_that_speaks_no_tls_is_told_from_one_that_is_away(server: ScriptedServer) -> None:
    """The sentence says what the TLS library found."""
    with pytest.raises(Unreachable, match=r"(?i)ssl"):
        register(f"https://{server.host}", "numberwang", "Me", tls=ssl.create_default_context())


def test_a_change_that_the_server_made_without_saying_so_is_not_lost(server: ScriptedServer, tmp_path: Path) -> None:
    """The new pass_hash is kept beside the auth file, and tried by the next call."""
    path = tmp_path / "auth.json"
    Credentials("numberwang", "Me", PASS_HASH, server.host).save(path)
    change = ("PUT", "/bots/numberwang/Me/pass_hash")
    server.answers[change] = ("503 Service Unavailable", "no JSON")
    with pytest.raises(Unreachable):
        renew(path)
    assert Credentials.load(path).pass_hash == PASS_HASH
    beside = tmp_path / "auth.json.new"
    assert beside.stat().st_mode & 0o777 == 0o600
    chosen = Credentials.load(beside).pass_hash
    server.answers[change] = ("200 OK", "{}")
    assert renew(path).pass_hash == Credentials.load(path).pass_hash == chosen != PASS_HASH
    assert not beside.exists()
    assert {json.loads(body)["pass_hash"] for _, _, body in server.requests} == {chosen}


def test_credentials_that_the_server_does_not_take_are_not_replaced(server: ScriptedServer, tmp_path: Path) -> None:
    """Neither those of the file nor those beside it are right: it is tried with both."""
    path = tmp_path / "auth.json"
    Credentials("numberwang", "Me", PASS_HASH, server.host).save(path)
    refusal = ("401 Unauthorized", '{"error": "Not right.", "code": "login-failed"}')
    server.answers["PUT", "/bots/numberwang/Me/pass_hash"] = refusal
    with pytest.raises(Refused, match="Not right"):
        renew(path)
    assert len(server.requests) == 2
    assert Credentials.load(path).pass_hash == PASS_HASH
