"""A byte-level HTTP client: it sends what the test says, as slowly as it says."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any

LIMIT_S = 20.0


@dataclass(frozen=True)
class Answer:
    """A response: status, headers by lower-case name, body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """Returns the slug of an error response."""
        return str(json.loads(self.body)["code"])


class Raw:
    """One TCP connection to a node, from the address `source`."""

    def __init__(self, address: str, source: str = "127.0.0.1", receive_buffer: int | None = None) -> None:
        host, _, port = address.partition(":")
        self.sock = socket.socket()
        if receive_buffer is not None:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(LIMIT_S)
        self.sock.bind((source, 0))
        self.sock.connect((host, int(port)))
        self._data = b""

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, *lines: str, body: bytes = b"") -> None:
        """Sends a request's head, line by line, and its body."""
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def answer(self) -> Answer:
        """Returns the next complete response. Raises ConnectionError if the connection ends instead."""
        while b"\r\n\r\n" not in self._data:
            self._more()
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        size = int(headers.get("content-length", 0))
        while len(self._data) < size:
            self._more()
        body, self._data = self._data[:size], self._data[size:]
        return Answer(int(first.split()[1]), headers, body)

    def dribble(self, data: bytes, pause_s: float) -> float:
        """Sends byte after byte until the server hangs up; returns after how many seconds it did."""
        began_s = time.monotonic()
        self.sock.settimeout(pause_s)
        for at in range(len(data)):
            try:
                self.sock.sendall(data[at : at + 1])
                chunk = self.sock.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                chunk = b""
            self._data += chunk
            if not chunk:
                return time.monotonic() - began_s
        raise AssertionError("the server took it all")

    def ended(self, limit_s: float = LIMIT_S) -> float:
        """Reads until the server ends the connection; returns after how many seconds it did."""
        began_s = time.monotonic()
        self.sock.settimeout(limit_s)
        try:
            while chunk := self.sock.recv(65536):
                self._data += chunk
                assert time.monotonic() < began_s + limit_s, "still there"
        except ConnectionError:
            pass
        return time.monotonic() - began_s

    def _more(self) -> None:
        chunk = self.sock.recv(65536)
        if not chunk:
            raise ConnectionResetError("the server ended the connection")
        self._data += chunk


def ask(
    address: str, path: str, *headers: str, method: str = "GET", body: Any = None, source: str = "127.0.0.1"
) -> Answer:
    """Sends one request over a connection of its own; a `body` is sent as JSON."""
    data = b"" if body is None else json.dumps(body).encode()
    length = (f"Content-Length: {len(data)}",) if body is not None else ()
    with Raw(address, source) as raw:
        raw.send(f"{method} {path} HTTP/1.1", f"Host: {address}", "Connection: close", *length, *headers, body=data)
        return raw.answer()
