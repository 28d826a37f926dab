"""A connection of the TCP door over real sockets."""

from __future__ import annotations

import time

import gevent
import pytest
from gevent import socket
from pairs import Pair, read

from battlebot.config import load_settings
from battlebot.transports.connection import Gone
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.wire.duel import Ok, encode
from battlebot.wire.framing import frame


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
