"""A proxy for Redis that can be cut, and that can hold up subscriptions."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import unquote, urlsplit

from slow_line import stop_listening


class HoldingLine:
    """The proxy: `url` is its address. `held` is set while a subscription waits for `free`.

    `connections`: how many have been made.
    """

    def __init__(self, url: str) -> None:
        self._far = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        self.held = threading.Event()
        self.connections = 0
        self._is_free = threading.Event()
        self._is_free.set()
        self._passes = threading.Semaphore(0)
        self._is_whole = True
        self._age = 0  # connections of an earlier age carry nothing
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Keeps subscriptions, and what their connections send after them, from reaching Redis from now on."""
        self.held.clear()
        self._is_free.clear()

    def free(self) -> None:
        """Lets everything held through."""
        self._is_free.set()

    def let_one_pass(self) -> None:
        """Lets through what is held, but holds what has been sent since."""
        self.held.clear()
        self._passes.release()

    def cut(self) -> None:
        """Ends all connections and refuses new ones until `mend`."""
        self._is_whole = False
        self.end_all()

    def mend(self) -> None:
        """Accepts connections again."""
        self._is_whole = True

    def mute(self) -> None:
        """Keeps all connections open but carries nothing over them any more; new connections work."""
        self._age += 1

    def end_all(self) -> None:
        """Ends all connections; new ones are accepted."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Shuts the proxy down."""
        self.free()
        stop_listening(self._listener)
        self.end_all()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.connections += 1
                if not self._is_whole:
                    near.close()
                    continue
                far = socket.socket(socket.AF_UNIX if self._far.scheme == "unix" else socket.AF_INET)
                at_port = (self._far.hostname or "127.0.0.1", self._far.port or 6379)
                far.connect(unquote(self._far.path) if self._far.scheme == "unix" else at_port)
                self._ends += [near, far]
                for source, sink in ((near, far), (far, near)):
                    carried = (source, sink, source is near, self._age)
                    threading.Thread(target=self._carry, args=carried, daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, there: bool, age: int) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if age != self._age:
                    continue
                if there and b"SUBSCRIBE" in data and not self._is_free.is_set():
                    self.held.set()
                    while not self._is_free.is_set() and not self._passes.acquire(timeout=0.01):
                        pass
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def holding_line(url: str) -> Iterator[HoldingLine]:
    """Yields a proxy for the Redis at `url`."""
    line = HoldingLine(url)
    try:
        yield line
    finally:
        line.close()
