"""However a connection's requests are cut up or put together, they hold up nobody else for long."""

from __future__ import annotations

from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import InvalidHeader, LimitRequestHeaders

from battlebot.embedded import webparser as module
from battlebot.embedded.webparser import HEADERS_BYTES, READ_BYTES, UnhurriedParser

HEAD = b"POST /bots/numberwang HTTP/1.1\r\nHost: here\r\n"
EMPTY = HEAD + b"Content-Length: 0\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Peer:
    """A socket on which everything has come, and a clock that goes on each time it is looked at."""

    def __init__(self, data: bytes, work_s: float = 2 * module.MOST_S) -> None:
        self.data, self.now_s, self._work_s = data, 0.0, work_s
        self.rests = self.reads = 0

    def recv(self, size: int) -> bytes:
        """Returns some bytes, which it takes time to parse."""
        part, self.data = self.data[:size], self.data[size:]
        self.reads += 1
        return part

    def monotonic(self) -> float:
        """The time in seconds."""
        self.now_s += self._work_s
        return self.now_s

    def rest(self) -> None:
        """Others go on."""
        self.rests += 1


def parser_of(monkeypatch: pytest.MonkeyPatch, peer: Peer) -> Any:
    """The parser of what the peer sends."""
    monkeypatch.setattr(module, "time", peer)
    monkeypatch.setattr(module, "in_turn", peer.rest)
    return UnhurriedParser(Config(), peer, ("192.0.2.1", 1))


def test_others_go_on_between_requests_that_came_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred of them come with one read, and each takes as long as any other to answer."""
    peer = Peer(EMPTY * 20)
    parser = parser_of(monkeypatch, peer)
    for number in range(20):
        assert next(parser).path == "/bots/numberwang"
        assert peer.rests >= number
    assert peer.reads == 1


def test_others_go_on_while_a_body_in_chunks_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk may hold a byte, and have an extension that is longer."""
    peer = Peer(CHUNKED + b"1;a=b\r\nx\r\n" * 5000 + b"0\r\n\r\n")
    assert next(parser_of(monkeypatch, peer)).body.read() == b"x" * 5000
    assert peer.rests >= peer.reads - 1 > 5


def test_others_go_on_while_headers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that has come is searched again with each part."""
    peer = Peer(HEAD + (b"X: " + b"x" * 5000 + b"\r\n") * 6 + b"\r\n")
    assert len(next(parser_of(monkeypatch, peer)).headers) == 7
    assert peer.rests >= peer.reads - 1 > 2


def test_who_has_taken_little_time_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most requests come with one read, and rests are for those who hold others up."""
    peer = Peer(EMPTY * 3, work_s=module.MOST_S / 100)
    parser = parser_of(monkeypatch, peer)
    for _ in range(3):
        next(parser)
    assert peer.rests == 0


@pytest.mark.parametrize("before", [HEAD, CHUNKED + b"0\r\n"])
def test_headers_and_trailers_have_a_size_together(monkeypatch: pytest.MonkeyPatch, before: bytes) -> None:
    """Each may be long, and there may be many, but not many long ones; nor are these read to their end."""
    header = b"X: " + b"x" * 7000 + b"\r\n"
    fits = HEADERS_BYTES // len(header)
    assert next(parser_of(monkeypatch, Peer(before + header * fits + b"\r\n"))).body.read() == b""
    peer = Peer(before + header * 50 + b"\r\n")
    with pytest.raises(LimitRequestHeaders):
        next(parser_of(monkeypatch, peer)).body.read()
    assert len(before) + 50 * len(header) - len(peer.data) <= HEADERS_BYTES + 3 * READ_BYTES


def test_a_request_names_its_host_unless_it_is_of_the_older_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP/1.0 knows no such header; without it, HTTP/1.1 is not to be answered (RFC 9112, section 3.2)."""
    assert next(parser_of(monkeypatch, Peer(b"GET / HTTP/1.0\r\n\r\n"))).path == "/"
    with pytest.raises(InvalidHeader):
        next(parser_of(monkeypatch, Peer(b"GET / HTTP/1.1\r\nAccept: */*\r\n\r\n")))


@pytest.mark.parametrize("said", [b"gzip, chunked", b"gzip\r\nTransfer-Encoding: chunked", b"identity, chunked", b"br"])
def test_a_body_that_is_encoded_is_not_taken_for_one_in_chunks_alone(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    """Nobody would decode it (RFC 9112, section 6.1)."""
    with pytest.raises(InvalidHeader):
        next(parser_of(monkeypatch, Peer(HEAD + b"Transfer-Encoding: " + said + b"\r\n\r\n0\r\n\r\n")))


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        (b"", False),
        (b"Connection: TE\r\n", False),
        (b"Connection: disclose, keep-alive\r\n", False),
        (b"Connection: Close\r\n", True),
        (b"Connection: TE,\tclose\r\n", True),
        (b"Connection: close, TE\r\n", True),
        (b"Connection: TE\r\nConnection: close\r\n", True),
    ],
)
def test_who_says_close_among_other_words_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch, said: bytes, ends: bool
) -> None:
    """As Perl's library for the web does; who reads until the end would wait (RFC 9112, section 9.6)."""
    assert next(parser_of(monkeypatch, Peer(HEAD + said + b"\r\n"))).should_close() is ends
