"""What a WebSocket's peer says by its bytes: messages, pings, pongs, its close. Knows no socket, no clock, no rate.

Frames that hold a whole text message, which are nearly all, are read here; wsproto gets all other frames, each whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.frames import CONTROL, TEXT, Irregular, payload_at, unmasked, whole_pong, whole_text

GOODBYE_HEARD = (ConnectionState.REMOTE_CLOSING, ConnectionState.CLOSED)


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message; `text` is None if it is binary."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """A frame of a message that is not whole yet."""


Said = Message | Part | Ping | Pong | CloseConnection

PART = Part()
PONG = Pong()


class Broken(Exception):
    """The peer has broken a rule of the protocol, or a message is too big; `reason` is to be told to it."""

    def __init__(self, reason: Closing) -> None:
        super().__init__(reason.slug)
        self.reason = reason


class Framing:
    """Of one connection. Messages may have up to `most_bytes`. `is_over`: the peer has sent its close frame."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._protocol = Connection(ConnectionType.SERVER)
        self._unread = bytearray()
        self._parts: list[str] = []
        self._part_bytes = 0
        self._in_parts = False
        self.is_over = False

    def whole(self, data: bytes) -> str | None:
        """Returns the text if the bytes are exactly one whole message, as turns nearly always are; else read them."""
        if self._unread or self._in_parts or self.is_over:
            return None
        return self._text(whole_text(data, self._most_bytes))

    def read(self, data: bytes) -> Iterator[Said]:
        """Yields what the bytes complete; nothing after the peer's close frame (RFC 6455, section 1.4).

        Raises Broken; then nothing more can be read.
        """
        if self.is_over:
            return
        if not self._unread and not self._in_parts and whole_pong(data):
            yield PONG
            return
        self._unread += data
        yield from self._frames()

    def answer(self, said: Ping | CloseConnection) -> bytes:
        """Returns the frame that answers the peer's. Raises Broken if none can."""
        try:
            return self._protocol.send(said.response())
        except LocalProtocolError:
            raise Broken(closing.PROTOCOL_ERROR) from None

    def goodbye(self, reason: Closing) -> bytes:
        """Returns our close frame; nothing if one has been sent."""
        try:
            return self._protocol.send(CloseConnection(reason.status, reason.reason or None))
        except LocalProtocolError:
            return b""

    def _frames(self) -> Iterator[Said]:
        read = 0
        try:
            while not self.is_over and (place := payload_at(self._unread, read)):
                begin, end = place
                is_control = self._unread[read] & CONTROL
                if not is_control and self._part_bytes + end - begin > self._most_bytes:
                    raise Broken(closing.TOO_BIG)
                if end > len(self._unread):
                    break
                yield from self._frame(read, begin, end)
                read = end
        except Irregular:
            yield from self._by_library(self._unread[read:])
            raise Broken(closing.PROTOCOL_ERROR) from None
        del self._unread[:read]

    def _frame(self, at: int, begin: int, end: int) -> Iterator[Said]:
        if self._unread[at] == TEXT and not self._in_parts:
            text = self._text(unmasked(self._unread, begin, end))
            if text is not None:
                yield Message(text)
                return
        yield from self._by_library(self._unread[at:end])

    @staticmethod
    def _text(payload: bytes | None) -> str | None:
        """Returns the payload as text, or None if it is not UTF-8, which wsproto is left to report."""
        try:
            return None if payload is None else payload.decode()
        except UnicodeDecodeError:
            return None

    def _by_library(self, data: bytearray) -> Iterator[Said]:
        try:
            self._protocol.receive_data(bytes(data))
            for event in self._protocol.events():
                yield from self._said(event)
        except (RemoteProtocolError, LocalProtocolError):
            raise Broken(closing.PROTOCOL_ERROR) from None

    def _said(self, event: Event) -> Iterator[Said]:
        match event:
            case TextMessage() | BytesMessage():
                yield self._message(event)
            case Ping() | Pong():
                yield event
            case CloseConnection() if self._protocol.state not in GOODBYE_HEARD:
                # this is how wsproto reports that the peer broke the protocol
                raise Broken(Closing(event.code, closing.PROTOCOL_ERROR.slug, event.reason or ""))
            case CloseConnection():
                self.is_over = True
                yield event

    def _message(self, event: TextMessage | BytesMessage) -> Message | Part:
        data = event.data
        self._part_bytes += len(data) if isinstance(data, bytes | bytearray) or data.isascii() else len(data.encode())
        self._in_parts = not event.message_finished
        if isinstance(event, TextMessage):
            self._parts.append(event.data)
        if self._in_parts:
            return PART
        text = "".join(self._parts) if isinstance(event, TextMessage) else None
        self._parts, self._part_bytes = [], 0
        return Message(text)
