"""The upgrade to a WebSocket: the RFC's own example, and what is no upgrade."""

from __future__ import annotations

import pytest

from battlebot.wire.upgrade import BadUpgrade, accepted

GOOD = {
    "REQUEST_METHOD": "GET",
    "HTTP_HOST": "server.example.com:3000",
    "HTTP_UPGRADE": "websocket",
    "HTTP_CONNECTION": "Upgrade",
    "HTTP_SEC_WEBSOCKET_KEY": "dGhlIHNhbXBsZSBub25jZQ==",
    "HTTP_SEC_WEBSOCKET_VERSION": "13",
}


def test_the_answer_is_that_of_the_rfc() -> None:
    """Section 1.3; letters of any size, and other tokens beside `Upgrade`, as browsers send them."""
    answer = accepted(GOOD)
    assert answer.startswith(b"HTTP/1.1 101 ")
    assert b"\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")
    assert accepted({**GOOD, "HTTP_UPGRADE": "WebSocket", "HTTP_CONNECTION": "keep-alive, upgrade"}) == answer


@pytest.mark.parametrize(
    ("asked", "confirmed"),
    [
        ("echo-protocol", b"echo-protocol"),
        ("\tv2.json, chat", b"v2.json"),
        ("", None),
        (",chat", None),
        ("a b", None),
        ("a/b", None),
        ("a\r\nX: y", None),
    ],
)
def test_the_first_subprotocol_is_confirmed(asked: str, confirmed: bytes | None) -> None:
    """Whichever it is, so that clients that ask for one come in; what is no token is not repeated."""
    lines = accepted({**GOOD, "HTTP_SEC_WEBSOCKET_PROTOCOL": asked}).split(b"\r\n")
    found = [line.removeprefix(b"Sec-WebSocket-Protocol: ") for line in lines if line.startswith(b"Sec-WebSocket-P")]
    assert found == ([] if confirmed is None else [confirmed])
    assert lines[-2:] == [b"", b""]


@pytest.mark.parametrize("host", ["a" * 63, "a_b.example", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("port", ["", ":3000"])
def test_a_host_may_have_a_port(host: str, port: str) -> None:
    """Which is no part of its name, whose labels have up to 63 letters."""
    assert accepted({**GOOD, "HTTP_HOST": host + port}) == accepted(GOOD)


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [
        ("REQUEST_METHOD", "POST", 400),
        ("HTTP_HOST", None, 400),
        ("HTTP_HOST", "a..b", 400),
        ("HTTP_HOST", "a" * 64, 400),
        ("HTTP_HOST", "\xff", 400),
        ("HTTP_UPGRADE", None, 400),
        ("HTTP_UPGRADE", "h2c", 400),
        ("HTTP_CONNECTION", None, 400),
        ("HTTP_CONNECTION", "keep-alive", 400),
        ("HTTP_SEC_WEBSOCKET_KEY", None, 400),
        ("HTTP_SEC_WEBSOCKET_KEY", " ", 400),
        ("HTTP_SEC_WEBSOCKET_VERSION", None, 400),
        ("HTTP_SEC_WEBSOCKET_VERSION", "8", 426),
    ],
)
def test_what_is_no_upgrade_is_refused(key: str, value: str | None, status: int) -> None:
    """With the version that we speak where that is the trouble (section 4.4); a 426 must name what to upgrade to."""
    environ = {name: given for name, given in {**GOOD, key: value}.items() if given is not None}
    with pytest.raises(BadUpgrade) as caught:
        accepted(environ)
    assert caught.value.status == status
    assert ("Sec-WebSocket-Version" in caught.value.headers) == (key == "HTTP_SEC_WEBSOCKET_VERSION")
    assert caught.value.headers.get("Upgrade") == ("websocket" if status == 426 else None)
