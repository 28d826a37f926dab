"""One WebSocket connection over a gevent socket: `Inlet` reads, `Outbox` writes, wsproto knows the protocol.

Frames that hold a whole text message, which are nearly all, are read here; wsproto gets all other frames, each whole.

Replaces simple-websocket's server under flask-sock, which writes from two greenlets and reads ahead without bound. No
compression: it would cost more than it saves on messages of this size.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import gevent
from gevent import socket
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from battlebot.config import Settings
from battlebot.transports.connection import Frame, Gone
from battlebot.transports.inlet import Inlet
from battlebot.transports.keepalive import keep_alive
from battlebot.transports.limits import Rate
from battlebot.transports.outbox import SEND_BUFFER_BYTES, Outbox
from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.frames import (
    CONTROL,
    PING,
    TEXT,
    Irregular,
    payload_at,
    text_frame,
    unmasked,
    whole_pong,
    whole_text,
)
from battlebot.wire.upgrade import accepted

UNANSWERED_PINGS = 2
# how long the answer to the peer's close frame waits, so that replies to its last turns come first
ANSWERED_S = 1.0
GOODBYE_HEARD = (ConnectionState.REMOTE_CLOSING, ConnectionState.CLOSED)


class WebSocket:
    """A `Connection`, made from a WSGI environment that holds the upgrade request and the socket.

    After the conversation, the caller must call `finish`; gunicorn then closes the socket.
    """

    def __init__(self, environ: Mapping[str, Any], settings: Settings, address: str) -> None:
        """Answers the upgrade. Raises BadUpgrade, with the socket unchanged."""
        self.address = address
        self.parting: str | None = None
        self._settings = settings
        self._sock: socket.socket = environ["gunicorn.socket"]
        self._protocol = Connection(ConnectionType.SERVER)
        self._frames: deque[Frame] = deque()
        self._unread = bytearray()
        self._parts: list[str] = []
        self._part_bytes = 0
        self._in_parts = False
        self._pings = 0
        self._fragments = Rate(settings.max_messages_per_s)
        self._closing = False
        self._clean = False
        self._how = "broken"
        self._deaf = False
        self._finishing = False
        self._goodbye: bytes | None = None  # the answer to the peer's close frame
        self._answerer: gevent.Greenlet | None = None
        self._cutter: gevent.Greenlet | None = None
        answer = accepted(environ)
        # reading and writing have separate time-outs; the socket's would apply to both
        self._sock.settimeout(None)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        keep_alive(self._sock)
        self._inlet = Inlet(self._sock)
        self._outbox = Outbox(self._sock, settings.outbox_messages, settings.send_timeout_s, self._cut)
        self._outbox.put(answer)

    def receive(self, timeout_s: float | None) -> Frame | None:
        """Returns the next frame, or None after `timeout_s` without one. Pings a silent peer meanwhile.

        Raises Gone: after the peer's close frame, once its earlier messages have been read; after our `close`, at once.
        """
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if (self._closing or self._clean) and not (self._clean and self._frames):
                raise Gone(clean=True, how=self._how)
            if self._frames:
                return self._frames.popleft()
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

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a text message; if too many wait, closes the connection."""
        if self._closing or self._outbox.failed:
            return
        if not self._outbox.put(text_frame(text), on_written):
            self.close(closing.SLOW_READER)

    def flush(self) -> bool:
        """Waits until the system has taken all messages; returns False if the connection ends instead."""
        self._outbox.drain(self._settings.send_timeout_s)
        return not (self._closing or self._outbox.failed or self._outbox.held_up)

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read."""
        return self._outbox.held_up

    def close(self, reason: Closing) -> None:
        """Queues the close frame after all messages; cuts the connection if that is not read in time."""
        if self._closing:
            return
        self._closing = True
        self._outbox.put_last(self._last_frame(reason))
        self._cutter = gevent.spawn_later(self._settings.close_timeout_s, self._cut)
        gevent.get_hub().loop.run_callback(self._wake)

    def _last_frame(self, reason: Closing) -> bytes:
        if self._goodbye is not None:
            return self._goodbye
        self._how = reason.slug
        try:
            return self._protocol.send(CloseConnection(reason.status, reason.reason or None))
        except LocalProtocolError:
            return b""

    def finish(self) -> None:
        """Ends the conversation: sends a close frame if none was sent, and waits for the peer's, but not for long.

        Reads what the peer still sends: closing a socket with unread data resets the connection, and the peer may lose
        what it was sent.
        """
        self._finishing = True
        self.close(closing.MATCH_OVER)
        until_s = time.monotonic() + self._settings.close_timeout_s
        self._outbox.drain(self._settings.close_timeout_s)
        try:
            if self._deaf:
                self._sock.shutdown(socket.SHUT_WR)
            while not self._clean and time.monotonic() < until_s:
                data = self._read(until_s - time.monotonic())
                if data is not None and not self._deaf:
                    self._take_last(data)
                self._frames.clear()
        except (Gone, OSError):
            pass
        for later in (self._answerer, self._cutter):
            if later is not None:
                later.kill(block=False)
        self._inlet.close()
        self._cut()

    def _read(self, wait_s: float) -> bytes | None:
        """Returns what the peer sent, or None if nothing came in time. Raises Gone at the end of the stream."""
        try:
            data = self._inlet.read(max(wait_s, 0.001))
        except OSError:
            raise self._ended() from None
        if data == b"":
            raise self._ended()
        return data

    def _ended(self) -> Gone:
        """Returns how the stream ended; if the peer did not read, that was its own doing."""
        if self._outbox.failed and self._outbox.held_up and not self._closing:
            return Gone(clean=True, how=closing.SLOW_READER.slug)
        return Gone(clean=self._clean or self._closing, how=self._how)

    def _wake(self) -> None:
        """Interrupts the reader of a connection that has been closed; the hub calls this."""
        if not self._finishing:
            self._inlet.interrupt(Gone(clean=True, how=self._how))

    def _take(self, data: bytes, received_s: float) -> None:
        if not self._unread and not self._in_parts:
            payload = whole_text(data, self._settings.max_message_bytes)
            if payload is not None and self._take_text(payload, received_s):
                return
            if whole_pong(data):
                self._on_pong()
                return
        self._unread += data
        read = 0
        try:
            # what follows a close frame is no longer part of the conversation (RFC 6455, section 1.4)
            while not self._clean and (place := payload_at(self._unread, read)):
                begin, end = place
                if (
                    not self._unread[read] & CONTROL
                    and self._part_bytes + end - begin > self._settings.max_message_bytes
                ):
                    self._break_off(closing.TOO_BIG)
                if end > len(self._unread):
                    break
                self._take_frame(read, begin, end, received_s)
                read = end
        except Irregular:
            self._hand_over(self._unread[read:], received_s)
            self._break_off(closing.PROTOCOL_ERROR)
        del self._unread[:read]

    def _take_frame(self, at: int, begin: int, end: int, received_s: float) -> None:
        plain = self._unread[at] == TEXT and not self._in_parts
        if not plain or not self._take_text(unmasked(self._unread, begin, end), received_s):
            self._hand_over(self._unread[at:end], received_s)

    def _take_text(self, payload: bytes, received_s: float) -> bool:
        """Takes a whole text message; returns False if it is not UTF-8, which wsproto is left to report."""
        try:
            text = payload.decode()
        except UnicodeDecodeError:
            return False
        self._pings = 0
        self._frames.append(Frame(text, received_s))
        return True

    def _hand_over(self, data: bytes | bytearray, received_s: float) -> None:
        try:
            self._protocol.receive_data(bytes(data))
            for event in self._protocol.events():
                self._on_event(event, received_s)
        except (RemoteProtocolError, LocalProtocolError):
            self._break_off(closing.PROTOCOL_ERROR)

    def _take_last(self, data: bytes) -> None:
        try:
            self._take(data, time.monotonic())
        except Gone:
            self._deaf = True

    def _on_event(self, event: Event, received_s: float) -> None:
        match event:
            case TextMessage() | BytesMessage():
                self._on_message(event, received_s)
            case Ping():
                self._count()
                if not self._closing:
                    self._outbox.put(self._protocol.send(event.response()))
            case Pong():
                self._on_pong()
            case CloseConnection():
                self._on_close(event)

    def _on_pong(self) -> None:
        self._count()
        self._pings = 0

    def _on_message(self, event: TextMessage | BytesMessage, received_s: float) -> None:
        self._pings = 0
        data = event.data
        self._part_bytes += len(data) if isinstance(data, bytes | bytearray) or data.isascii() else len(data.encode())
        self._in_parts = not event.message_finished
        if isinstance(event, TextMessage):
            self._parts.append(event.data)
        if self._in_parts:
            self._count()
            return
        text = "".join(self._parts) if isinstance(event, TextMessage) else None
        self._parts, self._part_bytes = [], 0
        self._frames.append(Frame(text, received_s))

    def _on_close(self, event: CloseConnection) -> None:
        if self._protocol.state not in GOODBYE_HEARD:
            # this is how wsproto reports that the peer broke the protocol
            self._break_off(Closing(event.code, closing.PROTOCOL_ERROR.slug, event.reason or ""))
        self._clean = True
        if not self._closing:
            # it still reads: replies to its earlier turns, above all the end of the match, go before the close frame
            self._how, self._goodbye = "goodbye", self._protocol.send(event.response())
            self._answerer = gevent.spawn_later(ANSWERED_S, self.close, closing.MATCH_OVER)

    def _count(self) -> None:
        """Counts a frame that completes no message; whoever answers messages counts those. Raises Gone if too many."""
        if not self._fragments.take():
            self._break_off(closing.TOO_MANY_MESSAGES)

    def _break_off(self, reason: Closing) -> None:
        """Closes a peer that broke a rule, and ignores what it sends from now on. Raises Gone."""
        self._deaf = True
        if self.parting is not None:
            self.send(self.parting)
        self.close(reason)
        raise Gone(clean=True, how=self._how)

    def _ping(self) -> None:
        if self._pings >= UNANSWERED_PINGS:
            self.close(closing.SILENT)
            raise Gone(clean=False, how=self._how)
        self._pings += 1
        if not self._closing:
            self._outbox.put(PING)

    def _cut(self) -> None:
        """Breaks the connection, which wakes the reader at once. gunicorn closes the socket itself."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
