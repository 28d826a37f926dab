"""A connection of the TCP door over real sockets."""

from __future__ import annotations

import time

import gevent
import pytest
from gevent import socket
from pairs import LIMIT_S, Pair, read

from battlebot.config import load_settings
from battlebot.transports.connection import Gone
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.wire.duel import Error, Ok, encode
from battlebot.wire.framing import HEAD_BYTES, MAX_PAYLOAD_BYTES, frame


def answer_all(connection: TcpConnection) -> None:
    """Answers every message until the connection ends."""
    try:
        while connection.receive(None) is not None:
            connection.send(Ok())
    except Gone:
        pass


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="the system has no such option")
def test_the_rest_of_a_message_is_not_delayed_by_an_acknowledgement(pair: Pair) -> None:
    """An original client writes head and body by themselves: its system holds the body back until the head is heard.

    Left to itself, the server's system lets each wait for 40 ms.
    """
    ours, peer = pair
    connection = TcpConnection(ours, load_settings({}, None), "")
    answering = gevent.spawn(answer_all, connection)
    message, answer = frame(b"{}"), encode(Ok())
    began_s = time.monotonic()
    for _ in range(200):
        peer.sendall(message[:4])
        peer.sendall(message[4:])
        assert read(peer, len(answer)) == answer
    assert time.monotonic() - began_s < 4
    peer.close()
    answering.join()
    connection.finish()


def test_who_is_told_what_is_wrong_with_its_message_may_send_the_rest_of_it(pair: Pair) -> None:
    """The socket is closed only then: otherwise the system would reset the connection, and the answer might be lost."""
    ours, peer = pair
    connection = TcpConnection(ours, load_settings({}, None), "")

    def serve() -> None:
        answer_all(connection)
        connection.finish()

    serving = gevent.spawn(serve)
    size = MAX_PAYLOAD_BYTES + 1
    peer.sendall(size.to_bytes(HEAD_BYTES))
    sentence = f"A message may have {MAX_PAYLOAD_BYTES} bytes; this one announces {size}."
    answer = encode(Error("too-big", sentence))
    assert read(peer, len(answer)) == answer
    for _ in range(20):
        peer.sendall(b"x" * 100)
        gevent.sleep(0.005)
    peer.shutdown(socket.SHUT_WR)
    serving.join(LIMIT_S)
    assert serving.ready()


def test_the_clock_of_a_player_runs_though_it_has_broken_its_connection(pair: Pair) -> None:
    """What it is asked cannot be written any more; that is no slow reading."""
    ours, _ = pair
    connection = TcpConnection(ours, load_settings({}, None), "")
    ours.shutdown(socket.SHUT_WR)
    written: list[float] = []
    for _ in range(2):
        connection.send(Ok(), written.append)
    assert len(written) == 2
    with pytest.raises(Gone) as caught:
        connection.receive(LIMIT_S)
    assert caught.value.how == "goodbye"
