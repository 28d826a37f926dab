"""How much one address may have and ask, and whose word is taken for which address it is."""

from __future__ import annotations

import json
import socket
import struct
from contextlib import ExitStack

import pytest
from client import Raw, ask
from cluster import Cluster, Web, wait_for
from peer import Closed, Peer, new_name

from battlebot.wire.addresses import household

SETTINGS = {
    "max_http_per_address": 4,
    "max_connections_per_address": 3,
    "requests_per_minute": 60,
    "registrations_per_hour": 5,
    "max_streams_per_address": 2,
    "header_timeout_s": 20.0,
}
CLAIM = "X-Forwarded-For: 203.0.113.7"
CLASS = 60
UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="


def test_one_address_holds_so_many_connections_and_no_more(web: Web) -> None:
    """Seven, bots' and others'; the next is told why; another address has its own; one that goes makes room."""
    with ExitStack() as stack:
        held = [stack.enter_context(Raw(web.address, "127.0.0.2")) for _ in range(7)]
        for raw in held:
            raw.send("GET /healthz HTTP/1.1", "Host: x")
            assert raw.answer().status == 200
        with Raw(web.address, "127.0.0.2") as raw:
            refused = raw.answer()
            raw.ended()
        assert (refused.status, refused.code) == (429, "too-many-connections")
        assert ask(web.address, "/healthz", source="127.0.0.3").status == 200
        held[0].sock.close()
        wait_for(lambda: ask(web.address, "/healthz", source="127.0.0.2").status == 200, "room for one more")


def test_who_has_too_many_connections_and_breaks_further_ones_fills_no_log(web: Web) -> None:
    """The refusal of a connection that is broken by then cannot be written, which is no error of ours."""
    with ExitStack() as stack:
        for _ in range(7):
            stack.enter_context(Raw(web.address, "127.0.0.30"))
        for _ in range(20):
            with Raw(web.address, "127.0.0.30") as raw:
                # closed with a reset, at once
                raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with Raw(web.address, "127.0.0.30") as raw:
            assert raw.answer().status == 429
    assert "error.uncaught" not in web.log.read_text()


def test_one_address_asks_so_often_and_no_more(web: Web) -> None:
    """429 with Retry-After; probes and bots' connections are not counted, and other addresses have their own."""
    statuses = [ask(web.address, "/bots/numberwang", source="127.0.0.4").status for _ in range(61)]
    assert statuses == [200] * 60 + [429]
    answer = ask(web.address, "/web/numberwang", source="127.0.0.4")
    assert answer.status == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert ask(web.address, "/healthz", source="127.0.0.4").status == 200
    with Raw(web.address, "127.0.0.4") as raw:
        raw.send("GET / HTTP/1.1", f"Host: {web.address}", *UPGRADE, KEY)
        assert raw.answer().status == 101
    assert ask(web.address, "/bots/numberwang", source="127.0.0.5").status == 200


@pytest.mark.parametrize("headers", [("Upgrade: x",), ("Upgrade: websocket", "X: Upgrade")], ids=" ".join)
def test_no_header_spares_a_request_from_being_counted(web: Web, headers: tuple[str, ...]) -> None:
    """Only an upgrade at the bots' own door is no request."""
    source = f"127.0.0.{8 + len(headers)}"
    statuses = []
    for _ in range(61):
        with Raw(web.address, source) as raw:
            raw.send("GET /bots/numberwang HTTP/1.1", "Host: x", *headers)
            statuses.append(raw.answer().status)
    assert 200 not in statuses[60:]
    assert 429 in statuses[60:]


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/games/nothing", 404)])
def test_what_is_not_there_is_counted_too(web: Web, path: str, status: int) -> None:
    """Whoever looks for paths asks as well."""
    source = f"127.0.0.{20 + len(path)}"
    statuses = [ask(web.address, path, source=source).status for _ in range(61)]
    assert statuses == [status] * 60 + [429]


def test_registrations_count_for_the_address_that_the_connection_has(web: Web) -> None:
    """What a client claims to be changes nothing where no proxy is trusted."""

    def register(claim: str) -> int:
        path, body = "/bots/numberwang", {"bot_id": new_name()}
        return ask(web.address, path, claim, method="POST", body=body, source="127.0.0.6").status

    claims = [f"{name}: 203.0.113.{n}" for n, name in enumerate(("X-Forwarded-For", "X-Real-Ip", "Forwarded") * 2)]
    assert [register(claim) for claim in claims] == [201] * 5 + [429]


def test_one_address_watches_so_many_live_pages_and_no_more(web: Web) -> None:
    """Each is a stream that stays open."""
    with ExitStack() as stack:
        for status in (200, 200, 429):
            raw = stack.enter_context(Raw(web.address, "127.0.0.7"))
            raw.send("GET /web/numberwang/events HTTP/1.1", "Host: x")
            assert raw.answer().status == status


def test_a_class_behind_one_address_is_let_in(servers: Cluster) -> None:
    """By default: each has a live page, a battle and a browser that opens six connections; and there are their bots."""
    node = servers.web()
    opened = [
        (200, 101, ("GET / HTTP/1.1", *UPGRADE, KEY)),
        (CLASS, 101, ("GET /socket.io/?EIO=3&transport=websocket HTTP/1.1", *UPGRADE, KEY)),
        (CLASS, 200, ("GET /web/numberwang/events HTTP/1.1",)),
        (5 * CLASS, 200, ("GET /assets/style.css HTTP/1.1",)),
    ]
    with ExitStack() as stack:
        for count, status, lines in opened:
            raws = [stack.enter_context(Raw(node.address)) for _ in range(count)]
            for raw in raws:
                raw.send(*lines, f"Host: {node.address}")
            assert [raw.answer().status for raw in raws] == [status] * count, lines


@pytest.fixture(scope="module")
def behind_a_proxy(servers: Cluster) -> Web:
    """Returns a web node that trusts one proxy for one address."""
    return servers.web(trusted_proxies=1, **SETTINGS)


def test_behind_a_trusted_proxy_the_last_address_it_added_counts(behind_a_proxy: Web) -> None:
    """What stood in the header before it came to the proxy is nobody's word."""

    def register(forwarded: str) -> int:
        header = f"X-Forwarded-For: {forwarded}"
        return ask(
            behind_a_proxy.address, "/bots/numberwang", header, method="POST", body={"bot_id": new_name()}
        ).status

    assert [register(f"203.0.113.{n}, 198.51.100.1") for n in range(6)] == [201] * 5 + [429]
    assert register("198.51.100.2") == 201
    for garbage in ("nonsense", "", "1.2.3.4:99999", "'; drop", "\xff" * 50):
        assert register(garbage) in (201, 429)


def test_behind_a_trusted_proxy_its_own_connections_are_not_counted(behind_a_proxy: Web) -> None:
    """All bots come through it; bots are counted by the address that it tells."""
    with ExitStack() as stack:
        for _ in range(12):
            raw = stack.enter_context(Raw(behind_a_proxy.address))
            raw.send("GET /healthz HTTP/1.1", "Host: x")
            assert raw.answer().status == 200


def test_a_bots_place_is_its_address_own(web: Web) -> None:
    """The fourth connection of one address is closed with a reason; the login's log line has the address in it."""
    peers = [Peer(web.address) for _ in range(4)]
    for peer in peers[:3]:
        assert "salt" in peer.message()
    with pytest.raises(Closed, match="too-many-connections"):
        peers[3].message()
    peers[0].send({"game": "numberwang", "bot_id": "nobody", "login_hash": "0" * 64})
    assert peers[0].message()["authentication"] == "failed"
    for peer in peers:
        peer.sock.close()
    failed = [json.loads(line) for line in web.log.read_text().splitlines() if '"login.failed"' in line]
    assert failed[-1]["address"] == "127.0.0.1"


HOUSEHOLDS = [
    ("192.0.2.1", "192.0.2.1"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("2001:db8:1:2::", "2001:db8:1:2::/64"),
    ("::ffff:192.0.2.1", "192.0.2.1"),
    ("::1", "::/64"),
    ("fe80::1%eth0", "fe80::/64"),
    ("unknown", "unknown"),
    ("", ""),
]


@pytest.mark.parametrize(("address", "counted"), HOUSEHOLDS)
def test_an_ipv6_address_counts_for_its_network(address: str, counted: str) -> None:
    """Who has one has 2^64 of them."""
    assert household(address) == counted
