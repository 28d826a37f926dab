"""docker/nginx.conf in a real nginx: both doors, events at once, nobody's word for his address, nodes that go."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import socketio
import websocket
from cluster import LIMIT_S, Cluster, Web, wait_for
from proxy import EVIL, Proxy, connect

from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.redisio.connection import connect as connect_redis
from battlebot.storage import Storage

House = tuple[Cluster, Proxy, list[Web]]
CLAIMS = {"X-Forwarded-For": EVIL, "X-Real-Ip": EVIL, "Forwarded": f"for={EVIL}"}


def log_in(ws: websocket.WebSocket, bot_id: str, pass_hash: str) -> dict[str, Any]:
    """Answers the salt; what the server says to it."""
    salt = json.loads(ws.recv())["salt"]
    login_hash = hashlib.sha256((pass_hash + salt).encode()).hexdigest()
    ws.send(json.dumps({"game": "numberwang", "bot_id": bot_id, "login_hash": login_hash}))
    return json.loads(ws.recv())


def refused_logins(parts: Cluster) -> list[str]:
    """The addresses from which, as the nodes have seen it, wrong logins have come so far."""
    events = [json.loads(line) for line in parts.logs().splitlines() if '"login.failed"' in line]
    return sorted(event["address"] for event in events if event["code"] == "login-failed")


@pytest.mark.parametrize("path", ["/", "/ws", "/ws/"])
def test_a_bot_gets_its_salt_at_both_doors(path: str, front: House) -> None:
    """The upgrade passes; and it is a fresh salt each time."""
    salts = {json.loads(front[1].connect(path).recv())["salt"] for _ in range(2)}
    assert [len(salt) for salt in salts] == [64, 64]


def test_two_bots_on_two_nodes_play_a_match(front: House) -> None:
    """least_conn gives the second bot to the node that the first is not at; the final update reaches both."""
    _, proxy, nodes = front
    bots = {}
    for bot_id in ("left", "right"):
        credentials = proxy.register(bot_id).json()
        bots[bot_id] = proxy.connect()
        assert log_in(bots[bot_id], bot_id, credentials["pass_hash"])["authentication"] == "OK"
    first = {json.loads(ws.recv())["state"]["nextPlayer"] for ws in bots.values()}
    bots[first.pop()].send('{"n": 10}')
    ends = [json.loads(ws.recv())["state"] for ws in bots.values()]
    assert [end["complete"] for end in ends] == [True, True]
    assert [end["victor"] for end in ends] == [ends[0]["players"][0]] * 2
    assert all('"event":"login.accepted"' in node.log.read_text() for node in nodes)


def test_a_viewer_that_polls_comes_back_to_its_node(front: House) -> None:
    """Its session lives in one of the two; every request of it must find that one. A WebSocket passes as well."""
    for transport in ("polling", "polling", "polling", "websocket"):
        told: list[Any] = []
        viewer = socketio.Client(reconnection=False)
        viewer.on("ERROR", told.append)
        viewer.connect(f"http://127.0.0.1:{front[1].port}", transports=[transport])
        for number in range(1, 4):
            viewer.emit("GAME_SETUP_UPDATE", {"speed": 1})
            wait_for(lambda number=number, told=told: len(told) == number, "an answer")
        assert {error["error"] for error in told} == {"NO_GAME_RUNNING"}
        viewer.disconnect()


def test_what_happened_arrives_in_a_stream_at_once(front: House, module_settings: Settings) -> None:
    """Well before the next look that the node takes by itself (5 s), and before any buffer is full."""
    stream = front[1].ask("/web/noughtsandcrosses/events").raw
    assert stream.getheader("Content-Type").startswith("text/event-stream")
    next_event(stream)
    storage, client = Storage(module_settings), connect_redis(module_settings.redis_url)
    storage.contests.open("noughtsandcrosses", "through-nginx", 5)
    happened_s = time.monotonic()
    client.publish(keys.game_events("noughtsandcrosses"), b"opened")
    assert b"through-nginx" in next_event(stream)
    assert time.monotonic() - happened_s < 4.5
    storage.close()
    client.close()


def next_event(stream: Any) -> bytes:
    """The data of a stream's next event."""
    while not (line := stream.readline()).startswith(b"data:"):
        assert line, "the stream has ended"
    return line


def test_a_node_sees_where_a_bot_comes_from_and_not_what_it_claims(front: House) -> None:
    """At a node without nginx before it the claim would be believed: so the claim is one that can hurt."""
    parts, proxy, nodes = front
    claims = [f"{name}: {value}" for name, value in CLAIMS.items()]
    log_in(connect(nodes[0].settings.port, headers=claims), "nobody", "")
    wait_for(lambda: EVIL in refused_logins(parts))
    before = refused_logins(parts)
    log_in(proxy.connect(source="127.0.0.2", headers=claims), "nobody", "")
    wait_for(lambda: len(refused_logins(parts)) > len(before))
    assert refused_logins(parts) == sorted([*before, "127.0.0.2"])


def test_registrations_are_counted_for_the_address_and_not_for_the_claim(front: House) -> None:
    """Three an hour in this test, over both nodes together."""
    statuses = []
    for number in range(4):
        headers = {**CLAIMS, "X-Forwarded-For": f"{EVIL}, 198.51.100.{number}"}
        statuses.append(front[1].register(f"many-{number}", headers=headers, source="127.0.0.3").status)
    assert statuses == [201, 201, 201, 429]


def test_pages_name_the_host_that_was_asked_and_no_other(front: House) -> None:
    """What a client claims about host and scheme counts as little as what it claims about its address."""
    claims = {"Host": "bots.example.org", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    page = front[1].ask("/", headers=claims).raw.read().decode()
    assert "http://bots.example.org" in page
    assert "evil.example" not in page


@pytest.mark.parametrize(("size", "reaches_a_node"), [(100_000, True), (2_000_000, False)])
def test_a_large_body_is_refused_in_our_words(size: int, reaches_a_node: bool, front: House) -> None:
    """By the node where its own limit is meant; by nginx, long before the end, where it is beyond all measure."""
    before = len(front[1].logged())
    answer = front[1].ask("/bots/numberwang?secret", b" " * size)
    assert (answer.status, answer.json()["code"]) == (413, "too-large")
    logged = wait_for(lambda: [event for event in front[1].logged()[before:] if event["status"] == 413])
    assert [(event["request"], bool(event["node"])) for event in logged] == [("POST /bots/numberwang", reaches_a_node)]
    assert "secret" not in front[1].access_log.read_text()


def test_what_one_client_provokes_leaves_no_node_out_for_others(front: House) -> None:
    """A node may hang up on who sends too much: that says nothing about the node."""
    statuses = set()
    for _ in range(20):
        large = front[1].ask("/bots/numberwang", b"[" * 900_000)
        assert (large.status, large.json()["code"]) == (413, "too-large")
        statuses |= {front[1].ask("/healthz").status for _ in range(4)}
    assert statuses == {200}


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (f"GET /{'a' * 20_000} HTTP/1.1\r\nHost: a", 414, "too-large"),
        (f"GET / HTTP/1.1\r\nHost: a\r\nX-Long: {'a' * 20_000}", 431, "too-large"),
        ("GET / HTTP/1.1\r\nHost: a b/c", 400, "bad-request"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400, "bad-request"),
        ("GET / HTTP/1.1", 400, "bad-request"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: many", 400, "bad-request"),
        ("GE\x01T / HTTP/1.1\r\nHost: a", 400, "bad-request"),
        ("TRACE / HTTP/1.1\r\nHost: a", 405, "method-not-allowed"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: odd", 501, "not-implemented"),
        ("GET / HTTP/3.0\r\nHost: a", 505, "http-version-not-supported"),
        ("GET /nginx/414 HTTP/1.1\r\nHost: a\r\nConnection: close", 404, "not-found"),
    ],
)
def test_what_nginx_itself_refuses_is_refused_in_our_words(head: str, status: int, code: str, front: House) -> None:
    """Also where it could read no address."""
    with socket.create_connection(("127.0.0.1", front[1].port), LIMIT_S) as raw:
        raw.sendall(f"{head}\r\n\r\n".encode())
        answer = http.client.HTTPResponse(raw)
        answer.begin()
        body = json.loads(answer.read())
    assert (answer.status, body["code"], answer.getheader("Content-Type")) == (status, code, "application/json")


def test_readiness_is_not_for_everyone_all_the_time(front: House) -> None:
    """Each such question goes to all workers; whether a node lives may be asked as often as one likes."""
    with ThreadPoolExecutor(20) as many:
        answers = list(many.map(lambda _: front[1].ask("/readyz"), range(20)))
    # 503 since there is no worker in this test
    assert {answer.status for answer in answers} == {503, 429}
    assert {answer.json()["code"] for answer in answers if answer.status == 429} == {"too-many"}
    assert [front[1].ask("/healthz").status for _ in range(20)] == [200] * 20


def test_a_node_that_is_back_lets_all_bots_in_at_once(own_front: House) -> None:
    """It was asked in vain while it was gone, and a bot stays for long: nginx would learn late that it is back."""
    parts, proxy, (first, second) = own_front
    first.child.kill()
    assert {proxy.ask("/healthz").status for _ in range(8)} == {200}
    parts.web(port=first.settings.port, trusted_proxies=first.settings.trusted_proxies)
    second.child.kill()
    bots = [proxy.connect() for _ in range(12)]
    assert {len(json.loads(bot.recv())["salt"]) for bot in bots} == {64}


def test_the_log_is_json_and_says_which_node_answered(front: House) -> None:
    """Both have, by now."""
    _, proxy, nodes = front
    proxy.ask("/healthz?a=%22&b=\\", headers={"User-Agent": '"\\'})
    proxy.ask("/healthz")
    addresses = {node.address for node in nodes}
    wait_for(lambda: addresses <= {event["node"] for event in proxy.logged()})


def test_while_one_node_is_gone_the_other_answers(own_front: House) -> None:
    """Killed, not stopped: nobody told nginx. Requests that change something are tried again too, for none arrived."""
    _, proxy, nodes = own_front
    nodes[0].child.kill()
    assert [proxy.ask("/healthz").status for _ in range(20)] == [200] * 20
    assert proxy.register("survivor").status == 201
    assert [len(json.loads(proxy.connect().recv())["salt"]) for _ in range(4)] == [64] * 4
    nodes[1].child.kill()
    answer = proxy.ask("/games/numberwang")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
    assert answer.json()["code"] == "unavailable"
