"""The login of the WebSocket door: each field, wrong in each way, and the hash of the protocol page."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.errors import BadMessage, BadName, Refused
from battlebot.wire.jsontext import encode
from battlebot.wire.login import (
    Login,
    authentication_failed,
    authentication_ok,
    hash_fits,
    login_hash,
    new_secret,
)

HASH = "0123456789abcdef" * 4
GOOD: dict[str, Any] = {"game": "numberwang", "bot_id": "Zoë", "login_hash": HASH}
MATCH_ID = "65a1b2c3d4e5f60718293a4b"
SECOND = {"protocol": 2}


def decoded(**fields: Any) -> Login:
    """The login with these fields changed; one that is `...` is left out."""
    message = {key: value for key, value in (GOOD | fields).items() if value is not ...}
    return Login.decode(encode(message), 16)


def test_an_original_login_is_read() -> None:
    """Three fields are all that the originals' clients send outside contests."""
    assert decoded() == Login("numberwang", "Zoë", HASH, None, 1, False, None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"contest": "Cup 1"}, {"contest": "Cup 1"}),
        ({"contest": ""}, {"contest": None}),
        ({"contest": None}, {"contest": None}),
        ({"login_hash": HASH.upper()}, {"login_hash": HASH.upper()}),
        ({"extra": {"a": [1]}}, {}),
        ({"protocol": 1, "session": "keep", "resume": 7}, {"protocol": 1, "keep": False, "resume": None}),
        ({"protocol": True, "session": "keep"}, {"protocol": 1, "keep": False}),
        ({"protocol": "2", "session": "keep"}, {"protocol": 1, "keep": False}),
        ({"protocol": 3, "session": "keep"}, {"protocol": 1, "keep": False}),
        ({"session": "keep", "resume": MATCH_ID}, {"keep": False, "resume": None}),
        (SECOND, {"protocol": 2, "keep": False, "resume": None}),
        ({**SECOND, "session": "keep"}, {"keep": True}),
        ({**SECOND, "session": "single"}, {"keep": False}),
        ({**SECOND, "session": None, "resume": None}, {"keep": False, "resume": None}),
        ({**SECOND, "resume": MATCH_ID}, {"resume": MATCH_ID, "version": None}),
        ({**SECOND, "resume": MATCH_ID, "version": 7}, {"resume": MATCH_ID, "version": 7}),
        ({**SECOND, "resume": MATCH_ID, "version": 0}, {"resume": MATCH_ID, "version": 0}),
        ({"protocol": 1, "version": "x"}, {"version": None}),
    ],
    ids=repr,
)
def test_what_a_login_may_add(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Only the integer 2 opts in; without it the second protocol's keys are the bot's own business."""
    login = decoded(**fields)
    assert {name: getattr(login, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        *[("game", value, BadMessage) for value in (..., None, "", 7, True, ["numberwang"], {})],
        *[("bot_id", value, BadMessage) for value in (..., None, "", 7, True, ["a"])],
        *[("bot_id", value, BadName) for value in ("a/b", "a\n", " a", "x" * 65, "..", "Zoe\u0308", "\u3164")],
        *[("login_hash", value, BadMessage) for value in (..., None, "", 7, HASH[:-1], HASH + "0", "g" * 64)],
        *[("login_hash", value, BadMessage) for value in (HASH[:-1] + "\n", "\uff10" * 64, " " + HASH[:-1])],
        *[("contest", value, BadMessage) for value in (7, 0, False, [], {}, "a/b", " ", "x" * 65, "\0")],
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_wrong_field_is_named(field: str, value: Any, error: type[Refused]) -> None:
    """In the sentence and in the details."""
    with pytest.raises(error) as caught:
        decoded(**{field: value})
    assert field in str(caught.value)
    assert caught.value.details["field"] == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("resume", value) for value in (7, "", True, [], MATCH_ID[:-1], MATCH_ID + "0", MATCH_ID.upper(), "../" * 8)],
        *[("version", value) for value in (-1, 1.0, "0", True, [0], {})],
        *[("session", value) for value in ("Keep", "", 1, True, ["keep"], {})],
    ],
    ids=repr,
)
def test_the_second_protocols_fields_are_checked_too(field: str, value: Any) -> None:
    """A bot that opts in is told what is wrong."""
    with pytest.raises(BadMessage) as caught:
        decoded(protocol=2, **{field: value})
    assert caught.value.details["field"] == field


@pytest.mark.parametrize(
    ("hashed", "good"), [("", True), (HASH, True), (HASH.upper(), True), (HASH[:-1], False), ("é" * 64, False)]
)
def test_a_hash_of_a_door_that_asks_for_none_is_looked_at_where_there_is_one(hashed: str, good: bool) -> None:
    """At the TCP door most players have none; what is not 64 hex digits fits no salt."""
    assert Login("gomoku", "my.name", hashed).is_well_formed is good


def test_a_hash_does_not_get_into_logs() -> None:
    """Whatever writes a login down."""
    assert HASH not in repr(decoded())


@pytest.mark.parametrize("text", ["", "[]", "null", '{"game": NaN}', b"\xff", '{"game":' * 20 + "1" + "}" * 20])
def test_what_is_no_object_is_no_login(text: str | bytes) -> None:
    """The reader's own refusals come through."""
    with pytest.raises(BadMessage):
        Login.decode(text, 16)


def test_the_hash_is_the_protocol_pages() -> None:
    """Hex sha256 of pass_hash + salt, as text; the vector is `sha256sum`'s."""
    assert login_hash("a" * 64, "b" * 64) == "fa0dafbf43f1f551e536353e9d1a942a8e86e41a0b58dfeaf264ef217f6b862a"


def test_a_hash_fits_its_secret_and_salt_only() -> None:
    """Hex digits may be of either case."""
    secret, salt = new_secret(), new_secret()
    good = login_hash(secret, salt)
    assert hash_fits(good, secret, salt)
    assert hash_fits(good.upper(), secret, salt)
    assert not hash_fits(good, new_secret(), salt)
    assert not hash_fits(good, secret, new_secret())
    assert not hash_fits(login_hash(salt, secret), secret, salt)
    assert not hash_fits("", secret, salt)
    assert not hash_fits("é" * 64, secret, salt)


def test_secrets_are_64_hex_digits_and_never_the_same() -> None:
    """A salt is fresh per connection."""
    secrets = {new_secret() for _ in range(200)}
    assert len(secrets) == 200
    assert all(len(secret) == 64 and set(secret) <= set("0123456789abcdef") for secret in secrets)


def test_the_reply_that_holds_has_the_originals_shape() -> None:
    """`contest` only where there is one: an empty one is left out."""
    assert authentication_ok(decoded()) == {"authentication": "OK", "game": "numberwang", "bot_id": "Zoë"}
    assert authentication_ok(decoded(contest="")) == authentication_ok(decoded())
    assert authentication_ok(decoded(contest="Cup"))["contest"] == "Cup"


def test_the_reply_that_does_not_hold_says_why() -> None:
    """The originals' key, and ours beside it."""
    reply = authentication_failed("A sentence.", "login-failed")
    assert reply == {"authentication": "failed", "error": "A sentence.", "code": "login-failed"}
