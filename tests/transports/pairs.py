"""A pair of real sockets, and what tests do at the peer's end of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gevent
import gevent.socket

LIMIT_S = 10.0

Pair = tuple[gevent.socket.socket, socket.socket]  # ours, and the peer's, which does not block


@contextmanager
def connected() -> Iterator[Pair]:
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


def settle(condition: Callable[[], bool]) -> None:
    """Lets other greenlets run until the condition holds."""
    until_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < until_s
        gevent.sleep(0.001)


def read_all(peer: socket.socket) -> bytes:
    """Returns what the peer can read at once."""
    data = b""
    try:
        while chunk := peer.recv(65536):
            data += chunk
    except BlockingIOError:
        pass
    return data


def read(peer: socket.socket, size: int) -> bytes:
    """Returns so many bytes, letting the writer run meanwhile."""
    data = b""

    def enough() -> bool:
        nonlocal data
        data += read_all(peer)
        return len(data) >= size

    settle(enough)
    return data


def upgrade(sock: gevent.socket.socket) -> dict[str, object]:
    """Returns what gunicorn hands over with a WebSocket's upgrade."""
    return {
        "gunicorn.socket": sock,
        "PATH_INFO": "/",
        "HTTP_HOST": "here",
        "HTTP_UPGRADE": "websocket",
        "HTTP_CONNECTION": "Upgrade",
        "HTTP_SEC_WEBSOCKET_KEY": "dGhlIHNhbXBsZSBub25jZQ==",
        "HTTP_SEC_WEBSOCKET_VERSION": "13",
    }
