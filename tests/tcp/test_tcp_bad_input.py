"""The TCP door and what no client should send: bad frames, bad messages, bad names, bad moves, floods."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cluster import Cluster, Tcp, wait_for
from peer import new_name
from tcp_peer import Ended, Pair, TcpPeer

Join = Callable[..., TcpPeer]
MakePair = Callable[..., Pair]

TCP_SETTINGS = {"turn_timeout_ms": 20_000, "max_messages_per_s": 50.0, "max_connections_per_address": 12}


BAD_PAYLOADS: list[bytes] = [
    b"{",
    b"\xff\xfe{}",
    b'{"event": "\xc3"}',
    b"[]",
    b'"find_opponent"',
    b"null",
    b"3",
    b"NaN",
    b"[" * 5000,
    b'{"event": ' + b"9" * 5000 + b"}",
    b'{"event": "fly"}',
    b'{"event": 3}',
    b"{}",
]


@pytest.mark.parametrize("payload", BAD_PAYLOADS, ids=lambda value: repr(value[:20]))
def test_what_is_no_message_gets_a_coded_answer_and_the_connection_stays(join: Join, payload: bytes) -> None:
    """Bad UTF-8, bad JSON, no object, an unknown event; afterwards the player plays as before."""
    peer = join()
    peer.send(payload)
    message = peer.event("error")
    assert (message["code"], set(message)) == ("bad-message", {"event", "code", "error"})
    Pair(peer, join()).begin()


def test_the_tenth_bad_message_is_the_last(join: Join) -> None:
    """Nine are answered and forgiven; the tenth is answered and the connection closed."""
    peer = join()
    for _ in range(10):
        peer.send(b"no")
    for _ in range(10):
        peer.event("error")
    assert peer.ended()


def test_bad_first_messages_count_too(join: Join) -> None:
    """And a good one after nine of them is heard."""
    peer = join(enter=False)
    for _ in range(9):
        peer.send(b"no")
        peer.event("error")
    peer.enter()
    peer.send(b"no")
    peer.event("error")
    assert peer.ended()


@pytest.mark.parametrize("message", [{}, {"user": "x"}, {"event": "find_opponent"}], ids=repr)
def test_a_first_message_must_be_a_name(join: Join, message: dict[str, Any]) -> None:
    """The sentence says so."""
    peer = join(enter=False)
    peer.send(message)
    answer = peer.event("error")
    assert answer["code"] == "bad-message"
    assert "username" in answer["error"]


UNSEEN = ["a\u200bb", "\u202ex", "a\u2028b", "\u3164", " ", "a\u00adb", "a\ufe0f"]
NO_NAMES = ["", "x" * 65, "a\nb", "a\0", "\x7f", 3, None, True, ["x"], {"x": 1}, *UNSEEN]


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_a_name_is_a_string_of_1_to_64_characters_that_can_be_seen(join: Join, name: Any) -> None:
    """Another one may be tried."""
    peer = join(enter=False)
    peer.send({"username": name})
    assert peer.event("error")["code"] == "bad-name"
    peer.enter()


@pytest.mark.parametrize(
    "stem", ["my.name", "a b/c", " ", "..", "žluťoučký", "机器人", "a%2Fb", "$ref.x", "~s2p", "ｆｕｌｌ"]
)
def test_odd_names_play_like_all_others(join: Join, stem: str) -> None:
    """Also with what a bot's name may not hold."""
    names = [stem + new_name("")[1:5], new_name("plain")]
    table = Pair(*(join(name) for name in names)).begin()
    assert {table.one.name, table.two.name} == set(names)
    table.over()


def test_length_zero_is_ignored(join: Join) -> None:
    """Before the name too."""
    peer = join(enter=False)
    peer.raw(b"\0\0\0\0" * 3)
    peer.enter()
    peer.raw(b"\0\0\0\0")
    assert peer.silent(0.2)


@pytest.mark.parametrize("enters", [True, False], ids=["after the name", "before it"])
def test_nothings_are_messages_too_many(join: Join, enters: bool) -> None:
    """A flood of frames without a message is one."""
    peer = join(enter=enters)
    peer.raw(b"\0\0\0\0" * 1000)
    assert peer.event("error")["code"] == "rate"
    assert peer.ended()


@pytest.mark.parametrize("size", [65_537, 2**31, 2**32 - 1])
def test_too_long_a_message_is_refused_at_its_head(join: Join, size: int) -> None:
    """With an error, then the end, although nothing of it has been sent."""
    peer = join()
    peer.raw(size.to_bytes(4))
    assert peer.event("error")["code"] == "too-big"
    assert peer.ended()


def test_an_http_request_is_too_long_a_message(join: Join) -> None:
    """A browser at the wrong port: "GET " is a length."""
    peer = join(enter=False)
    peer.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert peer.event("error")["code"] == "too-big"
    assert peer.ended()


def test_bytes_may_come_one_by_one(join: Join) -> None:
    """And messages in one piece."""
    peer = join(enter=False)
    name = new_name()
    payload = b'{"username": "' + name.encode() + b'"}'
    for byte in len(payload).to_bytes(4) + payload:
        peer.raw(bytes([byte]))
    assert peer.read() == {"status": "ok"}
    peer.event("player_is_free")
    find = b'{"event": "find_opponent"}'
    peer.raw((len(find).to_bytes(4) + find) * 3)
    other = join().find()
    assert other.event("starting_game")["against"] == name


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (15, 0),
        (0, -1),
        (None, 3),
        (3, None),
        ("", 3),
        ("x", 3),
        (2.5, 3),
        (True, 3),
        ([3], 3),
        ({}, {}),
        (10**18, 3),
        ("1" * 5000, 3),
        ("٣", 3),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_an_invalid_move_loses_the_board_at_once(pair: MakePair, x: Any, y: Any) -> None:
    """Outside the board, null, unreadable: the coordinates as they were sent, then lose; win to the other."""
    table = pair()
    table.mover.move(table.question, x, y)
    loser, winner = table.mover, table.other
    message = loser.event("invalid_move")
    assert (message["x"], message["y"], message["board"]["_moves"]) == (x, y, [])
    assert loser.event("lose")["board"] == message["board"]
    assert winner.event("win")["board"] == message["board"]
    table.asked()
    assert table.mover is winner


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"[" * 253 + b"]" * 253, True),
        (b"[" * 254 + b"]" * 254, False),
        (b"[" * 1000 + b"]" * 1000, False),
        (b'{"x":' * 500 + b"1" + b"}" * 500, False),
        (b'"' + b"z" * 16_000 + b'"', True),
        (b'"' + b"z" * 60_000 + b'"', False),
        (b"[" + b"1e15," * 12_000 + b"1]", False),
    ],
    ids=lambda value: repr(value[:4]) + str(len(value)) if isinstance(value, bytes) else str(value),
)
def test_a_coordinate_that_cannot_be_sent_back_is_told_as_null(pair: MakePair, sent: bytes, told: bool) -> None:
    """Too deep or too much for a message of ours; the board is lost by it, and both are told, as by any other."""
    table = pair()
    payload = b'{"event": "make_move", "id": "%s", "x": %s, "y": 1}' % (table.question["id"].encode(), sent)
    table.mover.send(payload)
    message = table.mover.event("invalid_move")
    assert (message["x"], message["y"]) == (json.loads(sent) if told else None, 1)
    table.mover.event("lose")
    winner = table.other
    winner.event("win")
    assert table.asked().mover is winner


def test_an_occupied_space_loses_the_board(pair: MakePair) -> None:
    """One's own and the other's."""
    table = pair().play((7, 7))
    table.mover.move(table.question, 7, 7)
    message = table.mover.event("invalid_move")
    assert (message["x"], message["y"], message["board"]["_moves"]) == (7, 7, [[7, 7]])
    table.mover.event("lose")
    table.other.event("win")


def test_missing_coordinates_lose_the_board(pair: MakePair) -> None:
    """They are told as null."""
    table = pair()
    table.mover.send({"event": "make_move", "id": table.question["id"]})
    message = table.mover.event("invalid_move")
    assert (message["x"], message["y"]) == (None, None)
    table.mover.event("lose")
    table.other.event("win")


def test_a_flood_is_closed(join: Join) -> None:
    """More messages a second than anybody needs."""
    peer = join()
    for _ in range(300):
        peer.find()
    assert peer.event("error")["code"] == "rate"
    with pytest.raises(Ended):
        peer.read()


def test_one_address_says_so_many_new_names(servers: Cluster, join: Join) -> None:
    """The next is told so; those that have been said before may come again."""
    strict = servers.tcp(**TCP_SETTINGS, registrations_per_hour=2)
    one, two = join(node=strict), join(node=strict)
    late = join(enter=False, node=strict)
    late.send({"username": new_name()})
    assert late.event("error")["code"] == "too-many-names"
    assert late.ended()
    one.leave()
    Pair(join(one.name, node=strict), two).begin()


def test_one_address_has_so_many_connections(tcp: Tcp, join: Join) -> None:
    """And another may come when one of them is gone."""
    peers = [join() for _ in range(12)]
    late = join(enter=False)
    assert late.event("error")["code"] == "too-many-connections"
    assert late.ended()
    peers[0].leave()

    def comes() -> bool:
        peer = TcpPeer(tcp.address)
        peer.send({"username": new_name()})
        found = peer.read()
        peer.leave()
        return found == {"status": "ok"}

    wait_for(comes, "a free place")


def test_an_address_counts_as_at_the_other_doors(servers: Cluster) -> None:
    """By what `household` makes of it: one of IPv6 that stands for one of IPv4 is that one."""
    node = servers.tcp(host="::ffff:127.0.0.1", tcp_require_login=True)
    peer = TcpPeer(node.address)
    peer.read()
    peer.send({"username": "nobody", "login_hash": "0" * 64})
    assert peer.event("error")["code"] == "login-failed"
    assert peer.ended()
    failed = [json.loads(line) for line in node.log.read_text().splitlines() if '"login.failed"' in line]
    assert [line["address"] for line in failed] == ["127.0.0.1"]


def test_who_comes_to_a_full_node_waits_until_another_leaves(servers: Cluster, join: Join) -> None:
    """As at a web node; nobody is refused."""
    node = servers.tcp(max_connections=10)
    players = [join(node=node) for _ in range(10)]
    late = join(node=node, enter=False)
    late.send({"username": new_name("late")})
    assert late.silent(0.5)
    players[0].leave()
    assert late.read() == {"status": "ok"}
