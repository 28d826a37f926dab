"""HTTP clients that are slow on purpose, or send too much: each costs the server little, and for a short time."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest
from client import Raw, ask
from cluster import Cluster, Web, wait_for

from battlebot.embedded.webworker import UNSENT_BYTES

SETTINGS = {
    "header_timeout_s": 1.0,
    "body_timeout_s": 1.0,
    "response_timeout_s": 1.0,
    "max_request_line_bytes": 300,
    "max_headers": 16,
    "max_header_bytes": 300,
    "max_body_bytes": 2000,
}
HEAD = "GET /healthz HTTP/1.1\r\nHost: here\r\n"
POST = ("POST /bots/numberwang HTTP/1.1", "Host: here")


def test_who_sends_nothing_is_hung_up_on(web: Web) -> None:
    """A connection without a request is worth nothing."""
    with Raw(web.address) as raw:
        assert 0.9 <= raw.ended() < 10


def test_headers_that_come_byte_by_byte_have_their_time_and_no_more(web: Web) -> None:
    """The time is for all of them together: a byte now and then puts nothing off."""
    with Raw(web.address) as raw:
        assert raw.dribble((HEAD + "X: " + "x" * 250).encode(), 0.1) < 10


def test_a_second_request_is_waited_for_as_long_and_no_longer(web: Web) -> None:
    """Keep-alive keeps a connection, but not for ever."""
    with Raw(web.address) as raw:
        for _ in range(2):
            raw.send(*HEAD.split("\r\n")[:2])
            assert raw.answer().status == 200
        assert 0.9 <= raw.ended() < 10


@pytest.mark.parametrize("header", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_body_that_comes_byte_by_byte_is_answered_408(web: Web, header: str) -> None:
    """Then the connection ends: where the next request begins nobody knows."""
    with Raw(web.address) as raw:
        raw.send(*POST, header)
        body = b"1\r\nx\r\n" * 100 if "chunked" in header else b" " * 999
        assert raw.dribble(body, 0.1) < 15
        assert raw.answer().status == 408


def test_a_body_for_a_path_that_is_not_there_is_not_waited_for_either(web: Web) -> None:
    """The answer comes before the body, which is then read for a while, and thrown away."""
    with Raw(web.address) as raw:
        raw.send("POST /bots/chess HTTP/1.1", "Host: here", "Content-Length: 1000")
        assert raw.answer().status == 404
        assert raw.dribble(b" " * 999, 0.1) < 15


def test_who_does_not_read_the_answer_is_cut_off(web: Web) -> None:
    """It asks again and again and never reads: the node's greenlet for it must not live for ever."""
    with Raw(web.address, receive_buffer=2048) as raw:
        request = b"GET /openapi.json HTTP/1.1\r\nHost: here\r\n\r\n"
        wait_for(lambda: not _takes(raw, request * 50), "the end of the connection")
    wait_for(lambda: "Answer not taken in time" in web.log.read_text(), "a line in the log")


@pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that tells what the system keeps of an answer")
def test_of_an_answer_that_nobody_reads_the_system_keeps_little(web: Web) -> None:
    """By itself it takes megabytes for each of hundreds of connections."""
    with Raw(web.address, receive_buffer=2048) as raw:
        kept = list[int]()

        def waits() -> bool:
            kept.append(_kept_for(raw))
            return len(kept) > 5 and kept[-5:] == [kept[-1]] * 5 != [0] * 5

        raw.sock.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: here\r\n\r\n" * 50)
        wait_for(waits, "answers that wait to be read")
        assert max(kept) < 3 * UNSENT_BYTES


def _kept_for(raw: Raw) -> int:
    """Returns how many bytes the server's system keeps for the connection."""
    (_, own), (_, peer) = raw.sock.getsockname(), raw.sock.getpeername()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = line.split()
        if local.endswith(f":{peer:04X}") and remote.endswith(f":{own:04X}"):
            return int(queues.partition(":")[0], 16)
    return 0


def _takes(raw: Raw, data: bytes) -> bool:
    raw.sock.settimeout(0.2)
    try:
        raw.sock.sendall(data)
    except TimeoutError:
        pass
    except OSError:
        return False
    return True


TOO_LARGE = {
    "a long address": (414, (f"GET /{'x' * 400} HTTP/1.1", "Host: here")),
    "a long header": (431, ("GET / HTTP/1.1", "Host: here", f"X: {'x' * 400}")),
    "many headers": (431, ("GET / HTTP/1.1", "Host: here", *("X: x",) * 40)),
    "a long header of a bot": (431, ("GET /ws HTTP/1.1", "Host: here", "Upgrade: websocket", f"X: {'x' * 400}")),
    "a body longer than allowed": (413, (*POST, "Content-Length: 2001")),
    "a body longer than there are bytes": (413, (*POST, "Content-Length: 99999999999999999999")),
}


@pytest.mark.parametrize("kind", TOO_LARGE)
def test_what_is_too_large_is_refused_before_it_has_come(web: Web, kind: str) -> None:
    """By its own status, on a connection that is then over."""
    status, lines = TOO_LARGE[kind]
    with Raw(web.address) as raw:
        raw.send(*lines)
        answer = raw.answer()
        assert (answer.status, answer.code) == (status, "too-large")
        raw.ended()


@pytest.mark.parametrize("path", ["/bots/numberwang", "/bots/chess"])
def test_who_sends_all_of_it_first_reads_the_answer_all_the_same(web: Web, path: str) -> None:
    """As proxies do: what is not read would reset the connection, and a proxy would take the node for broken."""
    for _ in range(10):
        with Raw(web.address) as raw:
            raw.send(f"POST {path} HTTP/1.1", "Host: here", "Connection: close", "Content-Length: 900000")
            raw.sock.sendall(b"[" * 900_000)
            assert raw.answer().status == (404 if "chess" in path else 413)
            assert raw.sock.recv(1) == b""


@pytest.mark.parametrize("sent", [b"", b'{"bot_id": "cut-off"} '])
def test_a_body_that_ends_before_its_length_is_no_request(web: Web, sent: bytes) -> None:
    """Also if what has come could be one: a DELETE would be one without any body."""
    with Raw(web.address) as raw:
        raw.send(*POST, "Content-Length: 60", body=sent)
        raw.sock.shutdown(socket.SHUT_WR)
        answer = raw.answer()
        assert (answer.status, answer.code) == (400, "bad-request")


def test_a_body_in_chunks_that_grows_too_long_is_413(web: Web) -> None:
    """It announces no length; it is refused where it crosses the limit."""
    with Raw(web.address) as raw:
        raw.send(*POST, "Transfer-Encoding: chunked", body=(b"400\r\n" + b" " * 1024 + b"\r\n") * 2)
        assert raw.answer().status == 413


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
MALFORMED = {
    "no HTTP": b"hello\r\n\r\n",
    "zeros": b"\0" * 100 + b"\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100 + b"\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "length and chunks": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n" + CHUNKED + b"0\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
    "a blank before the colon": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "no number as length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a chunk without a size": b"POST /bots/numberwang HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"zz\r\n\r\n",
    "an unknown coding": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: rot13\r\n\r\n",
    "a compressed body": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an unknown expectation": b"POST / HTTP/1.1\r\nHost: x\r\nExpect: more\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_is_no_http_is_refused_and_hung_up_on(web: Web, kind: str) -> None:
    """Never a 5xx, and no second request can hide behind the first."""
    with Raw(web.address) as raw:
        raw.sock.sendall(MALFORMED[kind] + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = raw.answer()
        assert (answer.status, answer.code) == (400, "bad-request")
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        raw.ended()
        assert b"200 OK" not in raw._data


@pytest.mark.parametrize("path", ["/", "/web/numberwang", "/docs/bots", "/assets/x", "/games/numberwang", "/healthz"])
@pytest.mark.parametrize("host", ["x" * 64, "a..b", f"xn--{'a' * 60}:80"])
def test_a_host_that_cannot_be_is_refused(web: Web, host: str, path: str) -> None:
    """Also on the paths of pages: no page can be made for it, not even that of the error."""
    with Raw(web.address) as raw:
        raw.send(f"GET {path} HTTP/1.1", f"Host: {host}")
        answer = raw.answer()
        assert (answer.status, answer.code) == (400, "bad-request")


def test_nobody_may_set_what_only_a_server_sets(web: Web) -> None:
    """Headers by which some proxies tell where a request belongs are nobody's here."""
    for header in ("SCRIPT_NAME: /x", "PATH_INFO: /x", "X-Forwarded-Proto: https", "Remote_Addr: 203.0.113.7"):
        assert ask(web.address, "/healthz", header).status == 200


def test_a_node_that_stops_does_not_wait_for_those_who_ask_nothing_and_logs_no_error(servers: Cluster) -> None:
    """Browsers keep connections open for the next click. That no error is logged, the fixture sees to at the end."""
    node = servers.web(header_timeout_s=60.0, close_timeout_s=20.0)
    idle = [Raw(node.address) for _ in range(3)]
    for raw in idle[1:]:
        raw.send(*HEAD.split("\r\n")[:2])
        assert raw.answer().status == 200
    began_s = time.monotonic()
    node.child.stop()
    assert time.monotonic() - began_s < 15
    for raw in idle:
        raw.ended()
        raw.sock.close()
    assert "Worker graceful timeout" not in node.log.read_text()
