"""One WebSocket in this process, over a real socket: what is hard to see from outside. The rest is in tests/e2e."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

import gevent
import hypothesis
import pytest
from hypothesis import strategies as st
from pairs import LIMIT_S, Pair, connected, read, read_all, settle, upgrade

from battlebot.config import load_settings
from battlebot.transports.connection import Gone
from battlebot.transports.wsconnection import UNANSWERED_PINGS, WebSocket
from battlebot.wire import closing, frames


def masked(head: int, payload: bytes) -> bytes:
    """A client's frame, whose mask leaves the payload as it is."""
    size = len(payload)
    length = bytes([128 + size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes([head]) + length + bytes(4) + payload


GOODBYE = masked(0x88, b"\x03\xe8")
HEADS = st.sampled_from(sorted(frames.HEADS)) | st.integers(0, 255)
PAYLOADS = st.sampled_from([b"\x03\xe8bye", b"\0\0", b"{}", b"x" * 126]) | st.binary(max_size=9)
PIECES = st.just(GOODBYE) | st.builds(masked, HEADS, PAYLOADS) | st.binary(min_size=1, max_size=9)


def open_websocket(pair: Pair, **settings: Any) -> WebSocket:
    """An upgraded connection; the peer has read the answer to its upgrade."""
    ours, peer = pair
    made = WebSocket(upgrade(ours), load_settings({}, None, **settings), "here")
    assert read(peer, 100).startswith(b"HTTP/1.1 101 ")
    return made


def test_closing_ends_the_wait_for_a_frame_at_once(pair: Pair) -> None:
    """Whoever holds the conversation must not find out only when the peer has had its time to answer."""
    ws = open_websocket(pair, close_timeout_s=30.0)
    ended: list[bool] = []

    def listen() -> None:
        try:
            ws.receive(None)
        except Gone as gone:
            ended.append(gone.clean)

    gevent.spawn(listen)
    gevent.idle()  # it listens
    ws.close(closing.TAKEN_OVER)
    settle(lambda: bool(ended))
    assert ended == [True]


def test_after_closing_no_frame_is_given_out(pair: Pair) -> None:
    """Also one that has arrived before: a bot that has been closed plays no more."""
    ws = open_websocket(pair)
    masked = b"\x81\x82\0\0\0\0{}"
    pair[1].sendall(masked * 2)
    assert ws.receive(LIMIT_S).text == "{}"
    ws.close(closing.SLOW_READER)
    with pytest.raises(Gone):
        ws.receive(LIMIT_S)


def test_frames_that_came_before_the_peers_goodbye_are_given_out_before_it(pair: Pair) -> None:
    """Its last turn counts."""
    ws = open_websocket(pair)
    pair[1].sendall(b"\x81\x82\0\0\0\0{}" * 2 + GOODBYE)
    assert [ws.receive(LIMIT_S).text, ws.receive(LIMIT_S).text] == ["{}", "{}"]
    with pytest.raises(Gone) as caught:
        ws.receive(LIMIT_S)
    assert caught.value.clean is True


def test_what_is_told_after_the_peers_goodbye_comes_before_its_answer(pair: Pair) -> None:
    """The turn before it may have ended the match: the peer reads until it is answered."""
    ws = open_websocket(pair)
    read_all(pair[1])
    pair[1].sendall(GOODBYE)
    with pytest.raises(Gone) as caught:
        ws.receive(LIMIT_S)
    ws.send("{}")
    ws.close(closing.MATCH_OVER)
    assert (caught.value.clean, caught.value.how) == (True, "goodbye")
    assert read(pair[1], 8) == b"\x81\x02{}\x88\x02\x03\xe8"


def test_the_peers_goodbye_is_answered_though_nobody_finishes(pair: Pair) -> None:
    """What follows from it may wait for Redis."""
    ws = open_websocket(pair)
    read_all(pair[1])
    pair[1].sendall(GOODBYE)
    with pytest.raises(Gone):
        ws.receive(LIMIT_S)
    assert read(pair[1], 4) == b"\x88\x02\x03\xe8"


def test_the_clock_of_a_bot_runs_though_it_has_broken_its_connection(pair: Pair) -> None:
    """What it is asked cannot be written any more; that is no slow reading, and the network is told to have done it."""
    ws = open_websocket(pair)
    pair[0].shutdown(socket.SHUT_WR)
    written: list[float] = []
    for _ in range(2):
        ws.send("{}", written.append)
    assert len(written) == 2
    with pytest.raises(Gone) as caught:
        ws.receive(LIMIT_S)
    assert (caught.value.clean, caught.value.how) == (False, "broken")


@pytest.mark.parametrize("rest", [b"\xff\xff", b"\x81\x01x", b"\x81\x82\0\0\0\0{}", GOODBYE, b"\x8a\x80\0\0\0\0"])
def test_what_follows_the_peers_goodbye_is_ignored(pair: Pair, rest: bytes) -> None:
    """A bot that is about to lose must not make its leaving an error of the server, which would void the match."""
    ws = open_websocket(pair)
    pair[1].sendall(GOODBYE + rest)
    with pytest.raises(Gone) as caught:
        ws.receive(LIMIT_S)
    assert (caught.value.clean, caught.value.how) == (True, "goodbye")
    ws.finish()


def test_a_broken_connection_is_not_a_clean_end(pair: Pair) -> None:
    """Nobody said goodbye: the fault is the network's."""
    ws = open_websocket(pair)
    pair[1].close()
    with pytest.raises(Gone) as caught:
        ws.receive(LIMIT_S)
    assert caught.value.clean is False


def test_the_readers_time_out_is_not_the_writers(pair: Pair) -> None:
    """One greenlet reads with short time-outs while another writes what takes longer: it must not fail."""
    ours, peer = pair
    ws = open_websocket(pair)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    for _ in range(3):
        ws.send("x" * 50_000)
    until_s = time.monotonic() + 0.3
    while time.monotonic() < until_s:
        assert ws.receive(0.01) is None
    assert len(read(peer, 150_000)) >= 150_000


PONGS = {
    "alone": [b"\x8a\x80" + b"mask"],
    "with data": [b"\x8a\x81" + b"mask" + b"x"],
    "in two pieces": [b"\x8a\x80" + b"ma", b"sk"],
    "before a message": [b"\x8a\x80" + b"mask" + b"\x81\x82\0\0\0\0{}"],
}


@pytest.mark.parametrize("pong", PONGS.values(), ids=PONGS)
def test_a_peer_that_answers_pings_stays_and_one_that_does_not_is_closed(pair: Pair, pong: list[bytes]) -> None:
    """However its answer comes."""
    ws = open_websocket(pair, ping_interval_s=0.5)
    read_all(pair[1])

    def listen() -> None:
        with suppress(Gone):
            while True:
                ws.receive(None)

    listening = gevent.spawn(listen)
    for _ in range(UNANSWERED_PINGS + 2):
        assert read(pair[1], 2) == b"\x89\x00"
        for piece in pong:
            pair[1].sendall(piece)
            gevent.sleep(0.001)
    listening.get(timeout=LIMIT_S)
    assert read_all(pair[1]).startswith(b"\x89\x00" * UNANSWERED_PINGS + b"\x88")


def test_a_peers_ping_is_answered_with_its_data(pair: Pair) -> None:
    """Also without data, when it looks like the answer to one of ours."""
    ws = open_websocket(pair)
    read_all(pair[1])
    pair[1].sendall(b"\x89\x80\0\0\0\0\x89\x81\0\0\0\0x")
    assert ws.receive(0.01) is None
    pair[1].sendall(b"\x89\x80\0\0\0\0")
    assert ws.receive(0.01) is None
    assert read(pair[1], 7) == b"\x8a\x00\x8a\x01x\x8a\x00"


FRAMES = {
    "a byte at a time": [bytes((byte,)) for byte in b"\x81\x82\0\0\0\0{}" * 2],
    "two at once": [b"\x81\x82\0\0\0\0{}" * 2],
    "one and a half": [b"\x81\x82\0\0\0\0{}\x81\x82\0", b"\0\0\0{}"],
    "in parts, a ping between them": [b"\x01\x81\0\0\0\0{\x89\x80\0\0\0\0\x80\x81\0\0\0\0}\x81\x82\0\0\0\0{}"],
}


@pytest.mark.parametrize("chunks", FRAMES.values(), ids=FRAMES)
def test_messages_are_whole_however_their_bytes_come(pair: Pair, chunks: list[bytes]) -> None:
    """The system cuts a stream where it likes."""
    ws = open_websocket(pair)

    def send() -> None:
        for chunk in chunks:
            pair[1].sendall(chunk)
            gevent.sleep(0.001)

    gevent.spawn(send)
    assert [ws.receive(LIMIT_S).text for _ in range(2)] == ["{}", "{}"]


def test_a_message_that_will_be_too_big_is_refused_by_its_header(pair: Pair) -> None:
    """Nothing is kept of it."""
    ws = open_websocket(pair, max_message_bytes=1000)
    pair[1].sendall(b"\x81\xfe\x03\xe9")
    with pytest.raises(Gone):
        ws.receive(LIMIT_S)
    assert read(pair[1], 4)[:4] == b"\x88\x35\x03\xf1"


@hypothesis.settings(max_examples=500)
@hypothesis.given(st.lists(PIECES, min_size=1, max_size=4), st.booleans())
def test_whatever_bytes_come_the_conversation_goes_on_or_ends(sent: list[bytes], at_once: bool) -> None:
    """An error of another kind would be the server's fault, and void the bot's match."""
    with connected() as pair:
        ws = open_websocket(pair)
        for data in [b"".join(sent)] if at_once else sent:
            pair[1].sendall(data)
            gevent.idle()
        pair[1].shutdown(socket.SHUT_WR)
        with suppress(Gone):
            while ws.receive(LIMIT_S):
                pass
        ws.finish()


@pytest.mark.parametrize(
    ("message", "cut"),
    [
        (masked(0x81, b'{"n": 3}'), 6),
        (masked(0x01, b'{"n"') + masked(0x80, b": 3}"), 10),
        (masked(0x8A, b"") + masked(0x81, b'{"n": 3}'), 6),
    ],
    ids=["head and body", "two frames", "a pong and a message"],
)
def test_what_is_written_in_parts_is_not_held_back(pair: Pair, message: bytes, cut: int) -> None:
    """By the peer's system, which waits for an acknowledgement of the first part: 44 ms for each message, 7 s here."""
    ws, began_s = open_websocket(pair), time.monotonic()
    for _ in range(160):
        pair[1].sendall(message[:cut])
        pair[1].sendall(message[cut:])
        frame = ws.receive(LIMIT_S)
        assert frame is not None
        assert frame.text == '{"n": 3}'
        ws.send("{}")
        assert read(pair[1], 4)
    assert time.monotonic() - began_s < 5.0
