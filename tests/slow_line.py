"""A proxy for a store that delays each piece of data, or holds some of it back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from urllib.parse import unquote, urlsplit


@contextmanager
def slow_line(url: str, delay_s: float = 0.0, pass_on: Callable[[bytes], object] = bool) -> Iterator[str]:
    """Yields the address of a proxy for the Redis at `url` that delays each answer by `delay_s`.

    `pass_on(data)` is called with each piece on its way to Redis: that piece, and what follows it on the same
    connection, waits until the call returns.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_accept, args=(listener, url, delay_s, pass_on), daemon=True).start()
    try:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}{_database(url)}"
    finally:
        stop_listening(listener)


def stop_listening(listener: socket.socket) -> None:
    """Closes it, and wakes a thread that waits in its accept().

    Such a thread would wait on, and accept what comes to another listener if that one gets the same number and the
    system begins the wait anew.
    """
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _database(url: str) -> str:
    parts = urlsplit(url)
    return f"?{parts.query}" if parts.scheme == "unix" and parts.query else "" if parts.scheme == "unix" else parts.path


def _accept(listener: socket.socket, url: str, delay_s: float, pass_on: Callable[[bytes], object]) -> None:
    with suppress(OSError):
        while True:
            near, _ = listener.accept()
            far = _connected(url)
            for source, sink, lag_s, call in ((near, far, 0.0, pass_on), (far, near, delay_s, bool)):
                pieces: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
                threading.Thread(target=_read, args=(source, pieces, lag_s), daemon=True).start()
                threading.Thread(target=_write, args=(pieces, sink, call), daemon=True).start()


def _connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        far = socket.socket(socket.AF_UNIX)
        far.connect(unquote(parts.path))
        return far
    return socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))


def _read(source: socket.socket, pieces: SimpleQueue[tuple[float, bytes]], lag_s: float) -> None:
    data = b"-"
    while data:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        pieces.put((time.monotonic() + lag_s, data))


def _write(pieces: SimpleQueue[tuple[float, bytes]], sink: socket.socket, pass_on: Callable[[bytes], object]) -> None:
    with suppress(OSError):
        while True:
            due_s, data = pieces.get()
            time.sleep(max(0.0, due_s - time.monotonic()))
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            pass_on(data)
            sink.sendall(data)
