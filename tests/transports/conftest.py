"""Real sockets in one process: a gevent socket of the server, and a plain one of its peer."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import gevent.socket
import pytest
from pairs import Pair


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields (ours, the peer's), connected over TCP, with small buffers that are quickly full."""
    listener = gevent.socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.connect(listener.getsockname())
    peer.setblocking(False)
    ours, _ = listener.accept()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    listener.close()
    yield ours, peer
    ours.close()
    peer.close()
