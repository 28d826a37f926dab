"""One TCP connection of a client, each message one segment. Knows no conversation."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from gevent import socket

from battlebot.config import Settings
from battlebot.errors import Refused, TooBig
from battlebot.runtime.acknowledging import acknowledge
from battlebot.transports.connection import Gone
from battlebot.transports.limits import Rate
from battlebot.transports.peersocket import PeerSocket
from battlebot.wire.closing import SLOW_READER
from battlebot.wire.duel import Answer, Error, encode
from battlebot.wire.framing import Decoder

BAD_MESSAGES = 10  # after so many a connection is closed
LOOK_S = 60.0  # of one wait for data, if `receive` has no time-out


@dataclass(frozen=True, slots=True)
class Packet:
    """One message of a client. `received_s` (monotonic) is when its last bytes were read."""

    payload: bytes
    received_s: float


class TcpConnection(PeerSocket):
    """A client's connection. After the conversation, the caller must call `finish`, which closes the socket."""

    def __init__(self, sock: socket.socket, settings: Settings, address: str) -> None:
        super().__init__(sock, settings, address)
        self._decoder = Decoder()
        self._empty = 0
        self._empties = Rate(settings.max_messages_per_s)
        self._received_s = 0.0
        self._complaints = 0
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive(self, timeout_s: float | None) -> Packet | None:
        """Returns the next message, or None if none came in time. Raises Gone, also for a message that is too big."""
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if self._closing:
                raise Gone(clean=True, how=self._how)
            if (payload := self._next()) is not None:
                return Packet(payload, self._received_s)
            self._count_empties()
            if not self._decoder.between:
                acknowledge(self._sock)
            wait_s = LOOK_S if until_s is None else until_s - time.monotonic()
            if wait_s <= 0:
                return None
            data = self._read(wait_s)
            if data is not None:
                self._received_s = time.monotonic()
                self._decoder.feed(data)

    def send(self, answer: Answer, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a message; if too many wait, closes the connection. Never blocks."""
        if self._closing:
            return
        if not self._outbox.put(encode(answer), on_written) and not self._outbox.failed:
            self.close(how=SLOW_READER.slug)

    def complain(self, error: Refused) -> None:
        """Tells the client what is wrong with its message. Closes the connection and raises Gone at the tenth."""
        self._complaints += 1
        answer = Error(error.code, str(error))
        if self._complaints < BAD_MESSAGES:
            self.send(answer)
            return
        self.close(answer, error.code)
        raise Gone(clean=True, how=error.code)

    def close(self, last: Answer | None = None, how: str = "goodbye") -> None:
        """Ends the connection after the queued messages and `last`, or cuts it after a time-out. Never blocks.

        `how` is the slug of the reason.
        """
        if self._closing:
            return
        self._closing, self._how = True, how
        if last is not None:
            self._outbox.put_last(encode(last))
        self._cut_soon()

    def finish(self) -> None:
        """Closes the socket once the last messages are written or have failed.

        Then reads, for a moment, what the client still sends: closing a socket with unread data resets the connection,
        and the client may lose what it was sent.
        """
        self._finishing = True
        self.close()
        until_s = time.monotonic() + self._settings.close_timeout_s
        self._outbox.drain(self._settings.close_timeout_s)
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)
            self._read_out(until_s)
        if self._cutter is not None:
            self._cutter.kill(block=False)
        self._inlet.close()
        self._sock.close()

    def _next(self) -> bytes | None:
        try:
            return self._decoder.next()
        except TooBig as error:
            self.close(Error(error.code, str(error)), error.code)
            raise Gone(clean=True, how=error.code) from None

    def _count_empties(self) -> None:
        """Counts empty frames; whoever answers messages counts those. Raises Gone if there are too many."""
        while self._empty < self._decoder.empty:
            self._empty += 1
            if not self._empties.take():
                self.close(Error("rate", "Too many messages a second."), "rate")
                raise Gone(clean=True, how="rate")

    def _ended(self, broke: bool) -> Gone:
        if self._closing or broke or not self._decoder.between:
            return Gone(clean=self._closing, how=self._how)
        return Gone(clean=True, how="goodbye")

    def _read_out(self, until_s: float) -> None:
        while (left_s := until_s - time.monotonic()) > 0:
            if self._inlet.read(left_s) == b"":
                return
