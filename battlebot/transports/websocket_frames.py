"""One WebSocket connection over a gevent socket: wsproto for the protocol, `Outbox` for the writing.

Takes the place of simple-websocket's server under flask-sock, which writes from two greenlets and has no bound on what
it reads ahead. No compression: it would cost more than it saves on messages of this size.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from gevent import socket, spawn_later
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Event, Ping, Pong, Request, TextMessage
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from battlebot.config import Settings
from battlebot.transports.connection import Frame, Gone
from battlebot.transports.outbox import Outbox
from battlebot.wire import closing
from battlebot.wire.closing import Closing

READ_BYTES = 8192
UNANSWERED_PINGS = 2


class WebSocket:
    """A `Connection`. Made from a WSGI environment that holds the upgrade request and the socket.

    After the conversation the caller must call `finish`, which leaves the socket to be closed.
    """

    def __init__(self, environ: Mapping[str, Any], settings: Settings, address: str) -> None:
        """Answers the upgrade. Raises Gone if the request is no WebSocket upgrade."""
        self.address = address
        self._settings = settings
        self._sock: socket.socket = environ["gunicorn.socket"]
        self._protocol = WSConnection(ConnectionType.SERVER)
        self._frames: deque[Frame] = deque()
        self._parts: list[str] = []
        self._part_bytes = 0
        self._pings = 0
        self._closing = False
        self._clean = False
        self._outbox = Outbox(self._sock, settings.outbox_messages, settings.send_timeout_s, self._cut)
        self._handshake(environ)

    def receive(self, timeout_s: float | None) -> Frame | None:
        """The next frame; None after `timeout_s` without one. Pings a silent peer meanwhile. Raises Gone."""
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._frames:
            if self._clean and self._closing:
                raise Gone(clean=True)
            wait_s = self._settings.ping_interval_s
            if until_s is not None:
                wait_s = min(wait_s, until_s - time.monotonic())
                if wait_s <= 0:
                    return None
            data = self._read(wait_s)
            if data is None:
                if until_s is None or time.monotonic() < until_s:
                    self._ping()
                continue
            self._take(data, time.monotonic())
        return self._frames.popleft()

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a text message; a peer that lets too many wait is closed."""
        if self._closing:
            return
        if not self._outbox.put(self._protocol.send(TextMessage(data=text)), on_written):
            self.close(closing.SLOW_READER)

    def close(self, reason: Closing) -> None:
        """Queues the close frame after what waits; cuts the connection if that is not read in time."""
        if self._closing:
            return
        self._closing = True
        try:
            frame = self._protocol.send(CloseConnection(reason.status, reason.reason or None))
        except LocalProtocolError:
            frame = b""
        self._outbox.put_last(frame)
        spawn_later(self._settings.close_timeout_s, self._cut)

    def finish(self) -> None:
        """Ends the conversation: says goodbye if nobody has, and waits for the peer's goodbye, but not for long."""
        self.close(closing.MATCH_OVER)
        until_s = time.monotonic() + self._settings.close_timeout_s
        try:
            while not self._clean and time.monotonic() < until_s:
                self._frames.clear()
                data = self._read(until_s - time.monotonic())
                if data is not None:
                    self._take(data, time.monotonic())
        except Gone:
            pass
        self._cut()

    def _handshake(self, environ: Mapping[str, Any]) -> None:
        lines = [f"GET {environ.get('PATH_INFO', '/')} HTTP/1.1".encode("latin-1", "replace")]
        for key, value in environ.items():
            if key.startswith("HTTP_") and key != "HTTP_SEC_WEBSOCKET_EXTENSIONS":
                name = key[5:].replace("_", "-").title()
                lines.append(f"{name}: {value}".encode("latin-1", "replace"))
        self._take(b"\r\n".join([*lines, b"", b""]), time.monotonic())

    def _read(self, wait_s: float) -> bytes | None:
        """What the peer sent; None if nothing came. Raises Gone at the end."""
        self._sock.settimeout(max(wait_s, 0.001))
        try:
            data = self._sock.recv(READ_BYTES)
        except TimeoutError:
            return None
        except OSError:
            raise Gone(clean=self._closing) from None
        if not data:
            raise Gone(clean=self._clean or self._closing)
        return data

    def _take(self, data: bytes, received_s: float) -> None:
        try:
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                self._on_event(event, received_s)
        except (RemoteProtocolError, LocalProtocolError, UnicodeDecodeError):
            self.close(closing.PROTOCOL_ERROR)
            raise Gone(clean=False) from None

    def _on_event(self, event: Event, received_s: float) -> None:
        match event:
            case TextMessage():
                self._on_text(event, received_s)
            case BytesMessage():
                if event.message_finished:
                    self._frames.append(Frame(None, received_s))
            case Ping():
                self._outbox.put(self._protocol.send(event.response()))
            case Pong():
                self._pings = 0
            case CloseConnection():
                self._clean = True
                if not self._closing:
                    self._closing = True
                    self._outbox.put_last(self._protocol.send(event.response()))
            case Request():
                self._outbox.put(self._protocol.send(AcceptConnection()))

    def _on_text(self, event: TextMessage, received_s: float) -> None:
        self._pings = 0
        self._part_bytes += len(event.data)
        if self._part_bytes > self._settings.max_message_bytes:
            self.close(closing.TOO_BIG)
            raise Gone(clean=True)
        if event.message_finished:
            text = "".join((*self._parts, event.data)) if self._parts else event.data
            self._parts, self._part_bytes = [], 0
            self._frames.append(Frame(text, received_s))
        else:
            self._parts.append(event.data)

    def _ping(self) -> None:
        if self._pings >= UNANSWERED_PINGS:
            self.close(closing.SILENT)
            raise Gone(clean=False)
        self._pings += 1
        if not self._closing:
            self._outbox.put(self._protocol.send(Ping()))

    def _cut(self) -> None:
        """Breaks the connection: the reader finds out at once. gunicorn closes the socket itself."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
