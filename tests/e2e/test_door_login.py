"""The first three messages of the WebSocket door: salt, login, reply; and every way in which a login fails."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from cluster import Web
from peer import BINARY, CLOSE, TEXT, Peer, frame, login_for
from switchboard import Switchboard

from battlebot.transports.stays import REFUSED_AFTER_S

SETTINGS = {"login_timeout_s": 1.0, "relogin_free": 1000, "close_timeout_s": 0.5}


@pytest.mark.parametrize("path", ["/", "/ws", "/ws/"])
def test_the_first_message_is_a_salt_of_64_hex_digits_on_both_paths(meet: Switchboard, path: str) -> None:
    """Original clients connect to the bare host."""
    assert re.fullmatch("[0-9a-f]{64}", meet(path).message()["salt"])


def test_each_connection_has_a_salt_of_its_own(meet: Switchboard) -> None:
    """Else a login that somebody overheard would open the door again."""
    assert len({meet().message()["salt"] for _ in range(10)}) == 10


def test_a_login_without_a_contest_is_answered_without_one(meet: Switchboard) -> None:
    """The reply has these keys and no others."""
    auth = meet.auth()
    assert meet().log_in(auth) == {"authentication": "OK", "game": "numberwang", "bot_id": auth["bot_id"]}


def test_a_login_with_a_contest_is_answered_with_it(meet: Switchboard) -> None:
    """As in the original."""
    auth = meet.auth()
    expected = {"authentication": "OK", "game": "numberwang", "bot_id": auth["bot_id"], "contest": "Autumn cup"}
    assert meet().log_in(auth, contest="Autumn cup") == expected


def test_an_empty_contest_means_none_and_is_left_out_of_the_reply(meet: Switchboard) -> None:
    """Original clients send "" where their user named no contest."""
    auth = meet.auth()
    assert "contest" not in meet().log_in(auth, contest="")


def test_a_login_hash_in_capitals_is_as_good(meet: Switchboard) -> None:
    """Hex is hex."""
    auth, peer = meet.auth(), meet()
    login = login_for(auth, peer.message()["salt"])
    peer.send({**login, "login_hash": login["login_hash"].upper()})
    assert peer.message()["authentication"] == "OK"


def wrong_hash(peer: Peer, login: dict[str, Any]) -> None:
    """The hash of something else."""
    peer.send({**login, "login_hash": "0" * 64})


def unknown_bot(peer: Peer, login: dict[str, Any]) -> None:
    """Nobody registered that one."""
    peer.send({**login, "bot_id": "nobody at all"})


def wrong_game(peer: Peer, login: dict[str, Any]) -> None:
    """The bot plays another."""
    peer.send({**login, "game": "noughtsandcrosses"})


BAD_LOGINS: dict[str, tuple[Callable[[Peer, dict[str, Any]], None], str]] = {
    "wrong hash": (wrong_hash, "login-failed"),
    "unknown bot": (unknown_bot, "login-failed"),
    "wrong game": (wrong_game, "login-failed"),
    "unknown game": (lambda peer, login: peer.send({**login, "game": "chess"}), "login-failed"),
    "salt of another": (lambda peer, login: peer.send({**login, "login_hash": "ab" * 32}), "login-failed"),
    "malformed JSON": (lambda peer, login: peer.send('{"game": '), "bad-message"),
    "an empty frame": (lambda peer, login: peer.send(""), "bad-message"),
    "a list": (lambda peer, login: peer.send([login]), "bad-message"),
    "a string": (lambda peer, login: peer.send('"hello"'), "bad-message"),
    "null": (lambda peer, login: peer.send("null"), "bad-message"),
    "nothing in it": (lambda peer, login: peer.send({}), "bad-message"),
    "a binary frame": (lambda peer, login: peer.frame(BINARY, json.dumps(login).encode()), "bad-message"),
    "game missing": (lambda peer, login: peer.send(without(login, "game")), "bad-message"),
    "bot_id missing": (lambda peer, login: peer.send(without(login, "bot_id")), "bad-message"),
    "login_hash missing": (lambda peer, login: peer.send(without(login, "login_hash")), "bad-message"),
    "login_hash a number": (lambda peer, login: peer.send({**login, "login_hash": 7}), "bad-message"),
    "login_hash too short": (lambda peer, login: peer.send({**login, "login_hash": "abc"}), "bad-message"),
    "bot_id a list": (lambda peer, login: peer.send({**login, "bot_id": ["x"]}), "bad-message"),
    "bot_id with a NUL": (lambda peer, login: peer.send({**login, "bot_id": "a\0b"}), "bad-name"),
    "contest a number": (lambda peer, login: peer.send({**login, "contest": 5}), "bad-message"),
    "nested too deep": (lambda peer, login: peer.send('{"a":' * 500 + "1" + "}" * 500), "bad-message"),
    "a lone surrogate": (lambda peer, login: peer.send('{"game":"\\ud800"}'), "bad-message"),
    "none in time": (lambda peer, login: None, "login-failed"),
}


def without(login: dict[str, Any], key: str) -> dict[str, Any]:
    """The login with a key left out."""
    return {name: value for name, value in login.items() if name != key}


@pytest.mark.parametrize("kind", BAD_LOGINS)
def test_a_bad_login_is_told_and_then_closed_with_a_code(meet: Switchboard, kind: str) -> None:
    """One message, `authentication: failed` with code and sentence; then a close frame with a reason; then the end."""
    send, code = BAD_LOGINS[kind]
    auth, peer = meet.auth(), meet()
    send(peer, login_for(auth, peer.message()["salt"]))
    reply = peer.message()
    assert reply["authentication"] == "failed"
    assert reply["code"] == code
    assert reply["error"].endswith(".")
    closed = peer.closed()
    assert (closed.code, closed.slug) == (1008, code)
    assert peer.nothing_more()


UNREADABLE: dict[str, tuple[bytes, int]] = {
    "no UTF-8": (frame(TEXT, b'{"game": "\xff"}'), 1007),
    "too big": (frame(TEXT, b" " * 20_000), 1009),
    "no WebSocket": (b"\x81\x02{}", 1002),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_login_that_cannot_be_read_has_failed_like_any_other(meet: Switchboard, kind: str) -> None:
    """An original client reads the reply, and cannot make anything of a close frame in its place."""
    data, code = UNREADABLE[kind]
    peer = meet()
    peer.message()
    peer.raw(data)
    reply = peer.message()
    assert (reply["authentication"], reply["code"]) == ("failed", "bad-message")
    assert peer.closed().code == code
    assert peer.nothing_more()


def test_wrong_hash_unknown_bot_and_wrong_game_cannot_be_told_apart(meet: Switchboard) -> None:
    """All bytes of the reply and of the close frame are the same."""
    seen = set()
    for send in (wrong_hash, unknown_bot, wrong_game):
        auth, peer = meet.auth(), meet()
        send(peer, login_for(auth, peer.message()["salt"]))
        reply, closed = peer.any_frame(), peer.closed()
        seen.add((reply, closed.code, closed.reason))
    assert len(seen) == 1


@pytest.mark.parametrize("send", [wrong_hash, unknown_bot, wrong_game])
def test_no_refusal_is_faster_than_another(meet: Switchboard, send: Callable[[Peer, dict[str, Any]], None]) -> None:
    """A known bot's hash is known by heart, an unknown bot is looked for: the answer waits for a fixed moment."""
    auth = meet.auth()
    meet.login(auth).close()
    peer = meet()
    login = login_for(auth, peer.message()["salt"])
    began_s = time.monotonic()
    send(peer, login)
    assert peer.message()["authentication"] == "failed"
    assert time.monotonic() - began_s >= REFUSED_AFTER_S


def test_a_login_that_trickles_in_is_out_of_time_all_the_same(meet: Switchboard) -> None:
    """Bytes that arrive do not start the time anew."""
    peer = meet()
    peer.message()
    peer.raw(b"\x81\xfe\x3f\xff\0\0\0\0")  # as long as may be
    began_s = time.monotonic()
    peer.sock.settimeout(0.05)
    while time.monotonic() - began_s < 10 and not peer._data:
        peer.raw(b" ")
        try:
            peer._data += peer.sock.recv(4096)
        except TimeoutError:
            continue
    assert peer.message()["authentication"] == "failed"


def test_who_leaves_before_the_login_is_said_goodbye_to(meet: Switchboard) -> None:
    """The close frame is answered by a close frame of the same code."""
    peer = meet()
    peer.message()
    peer.frame(CLOSE, b"\x03\xe8bye")
    assert peer.closed().code == 1000


def test_a_plain_get_of_the_websockets_path_is_refused_politely(web: Web) -> None:
    """A browser that is led there is answered, and not kept waiting."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(web.url + "/ws", timeout=10)
    assert caught.value.code == 426
    assert b"WebSocket" in caught.value.read()


UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
BAD_UPGRADES = {
    "no key": ({"Sec-WebSocket-Key": None}, 400),
    "no version": ({"Sec-WebSocket-Version": None}, 400),
    "an old version": ({"Sec-WebSocket-Version": "8"}, 426),
    "a host that is none": ({"Host": "a..b"}, 400),
}


@pytest.mark.parametrize("kind", BAD_UPGRADES)
def test_a_bad_upgrade_is_refused_and_the_http_connection_lives_on(web: Web, kind: str) -> None:
    """On a connection that is kept alive, a request after the failed upgrade is answered as any other."""
    changes, status = BAD_UPGRADES[kind]
    headers = {key: value for key, value in {**UPGRADE, **changes}.items() if value is not None}
    connection = http.client.HTTPConnection(web.address, timeout=10)
    try:
        connection.request("GET", "/ws", headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
        assert status != 426 or answer.headers["Sec-WebSocket-Version"] == "13"
        until_s = time.monotonic() + web.settings.close_timeout_s + 0.3
        while time.monotonic() < until_s and answer.status == status:
            # nothing may cut it later, either: a failed upgrade is not a WebSocket that is being closed
            connection.request("GET", "/healthz")
            assert connection.getresponse().read()
            time.sleep(0.1)
    finally:
        connection.close()


def test_a_proxy_that_speaks_the_older_protocol_may_pass_bots_on(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP/1.0 has no upgrades (RFC 9110, section 7.8), and yet nginx passes them on in it unless told otherwise."""
    monkeypatch.setattr(http.client.HTTPConnection, "_http_vsn_str", "HTTP/1.0")
    connection = http.client.HTTPConnection(web.address, timeout=10)
    try:
        connection.request("GET", "/", headers=UPGRADE)
        assert connection.getresponse().status == 101
    finally:
        connection.close()
