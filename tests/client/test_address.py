"""What an author may type as host, and what it means."""

from __future__ import annotations

import pytest

from battlebot.client.address import parse_address
from battlebot.client.errors import BadAddress


@pytest.mark.parametrize(
    ("host", "websocket_url", "rest_url"),
    [
        ("localhost:3000", "ws://localhost:3000/ws", "http://localhost:3000/bots/a%2Fb"),
        ("bots.localhost:3000", "ws://bots.localhost:3000/ws", "http://bots.localhost:3000/bots/a%2Fb"),
        ("127.0.0.1:3000", "ws://127.0.0.1:3000/ws", "http://127.0.0.1:3000/bots/a%2Fb"),
        ("[::1]:3000", "ws://[::1]:3000/ws", "http://[::1]:3000/bots/a%2Fb"),
        ("bots.example.org", "wss://bots.example.org/ws", "https://bots.example.org/bots/a%2Fb"),
        ("10.0.0.5:3000", "wss://10.0.0.5:3000/ws", "https://10.0.0.5:3000/bots/a%2Fb"),
        ("http://bots.example.org", "ws://bots.example.org/ws", "http://bots.example.org/bots/a%2Fb"),
        ("https://localhost:3000/", "wss://localhost:3000/ws", "https://localhost:3000/bots/a%2Fb"),
        (" localhost:3000\n", "ws://localhost:3000/ws", "http://localhost:3000/bots/a%2Fb"),
        ("WS://web:80", "ws://web:80/ws", "http://web:80/bots/a%2Fb"),
        ("wss://example.org/battle/ws", "wss://example.org/battle/ws", "https://example.org/battle/bots/a%2Fb"),
    ],
)
def test_a_host_gives_the_urls_of_both_doors(host: str, websocket_url: str, rest_url: str) -> None:
    """Without a scheme: plain text to the loopback, TLS to all else."""
    address = parse_address(host)
    assert address.websocket_url == websocket_url
    assert address.rest_url("bots", "a/b") == rest_url


@pytest.mark.parametrize(
    "host",
    [
        "",
        ":3000",
        "localhost:http",
        "localhost:99999",
        "ftp://x",
        "me:secret@x",
        "http://",
        "x/?a=1",
        "x/#a",
        "a b",
        "[::1",
        "a..b:1",
        f"{'x' * 64}.org",
        "\udcff",
    ],
)
def test_what_is_no_address_is_refused(host: str) -> None:
    """With a sentence that repeats what was typed."""
    with pytest.raises(BadAddress, match=r"is not an address|begins with"):
        parse_address(host)
