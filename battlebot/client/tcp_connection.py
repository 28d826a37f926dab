"""One connection to the TCP door: exchanges JSON objects in frames. Knows nothing of boards."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import time
from typing import Any

from battlebot.client.address import is_host_name
from battlebot.client.errors import BadAddress, ConnectionLost, Unreachable
from battlebot.wire.framing import Decoder, frame

Message = dict[str, Any]

PORT = 5232
OPEN_TIMEOUT_S = 10.0
LONGEST_WAIT_S = 3600.0
LOGIN_TIMEOUT_S = 20.0  # a server slows down players that reconnect too often
# the protocol has no ping: TCP keep-alive detects a server whose machine is gone
KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


def parse_tcp_address(text: str) -> tuple[str, int]:
    """Read `localhost`, `localhost:5232` or `[::1]:5232`. Raises BadAddress."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or text.strip().endswith("]"):
        host, port = text.strip(), str(PORT)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""  # IPv6 addresses need brackets
    if (
        not host
        or "/" in host
        or not is_host_name(host)
        or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)
    ):
        raise BadAddress(f"{text!r} is not an address like localhost:{PORT}.")
    return host, int(port)


class TcpConnection:
    """An open connection. A context manager."""

    def __init__(self, host: str, port: int, known: bool = False) -> None:
        """Connect. Raises ConnectionLost if trying again may help, Unreachable if it cannot.

        `known`: the host has been found before; if it is not found now, the name server or the network is away.
        """
        try:
            self._socket = socket.create_connection((host, port), OPEN_TIMEOUT_S)
        except socket.gaierror as error:
            if known or error.errno == socket.EAI_AGAIN:
                raise ConnectionLost(None, f"{host} cannot be looked up: {error.strerror}") from None
            raise Unreachable(f"{host} is not known: {error.strerror}.") from None
        except OSError as error:
            raise ConnectionLost(None, f"cannot connect to {host}:{port}: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE.items():
            if hasattr(socket, name):
                self._socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._decoder = Decoder(2**24)  # messages with a board may be large

    def __enter__(self) -> TcpConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, message: Message) -> None:
        """Send one JSON object in one write. Raises TypeError, ValueError or RecursionError if it is not JSON.

        A broken connection is not raised here but by `receive`, so that the server's last messages are read first.
        """
        data = frame(json.dumps(message, allow_nan=False, ensure_ascii=False).encode())
        self._socket.settimeout(OPEN_TIMEOUT_S)
        with contextlib.suppress(OSError):
            self._socket.sendall(data)

    def receive(self, timeout_s: float = math.inf) -> Message | None:
        """Return the next object, or None after `timeout_s` without one. Raises ConnectionLost, Unreachable."""
        until_s = time.monotonic() + timeout_s
        while (payload := self._decoder.next()) is None:
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return None
            # not longer: a socket refuses what no clock can show
            self._socket.settimeout(min(LONGEST_WAIT_S, left_s))
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                continue
            except OSError as error:
                raise ConnectionLost(None, f"the connection broke: {error}") from None
            if not data:
                raise ConnectionLost(None, "the server closed the connection")
            self._decoder.feed(data)
        try:
            message = json.loads(payload)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise Unreachable("The server sent something that is not a JSON object: no duel arena.")
        return message

    def receive_within_login(self) -> Message:
        """Return the next object during login, within LOGIN_TIMEOUT_S. Raises ConnectionLost, Unreachable."""
        message = self.receive(LOGIN_TIMEOUT_S)
        if message is None:
            raise ConnectionLost(None, f"the server said nothing for {LOGIN_TIMEOUT_S:g} s")
        return message
