"""One WebSocket connection over a gevent socket; `Framing` knows the protocol.

It is there instead of flask-sock's, which is simple-websocket's: that writes from two greenlets and reads ahead without
bound. No compression: it would cost more than it saves on messages of this size.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import gevent
from gevent import socket
from wsproto.events import CloseConnection, Ping, Pong

from battlebot.config import Settings
from battlebot.runtime.acknowledging import acknowledge
from battlebot.transports.connection import Frame, Gone
from battlebot.transports.limits import Rate
from battlebot.transports.peersocket import PeerSocket
from battlebot.transports.wsframing import Broken, Framing, Message, Part, Said
from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.frames import PING, text_frame
from battlebot.wire.upgrade import accepted

UNANSWERED_PINGS = 2
# how long the answer to the peer's close frame waits, so that replies to its last turns come first
ANSWERED_S = 1.0


class WebSocket(PeerSocket):
    """A `Connection`, made from a WSGI environment that holds the upgrade request and the socket.

    After the conversation, the caller must call `finish`; gunicorn then closes the socket.
    """

    def __init__(self, environ: Mapping[str, Any], settings: Settings, address: str) -> None:
        """Answers the upgrade. Raises BadUpgrade, with the socket unchanged."""
        answer = accepted(environ)
        super().__init__(environ["gunicorn.socket"], settings, address)
        self.parting: str | None = None
        self.excuses: Callable[[], bool] | None = None
        self._framing = Framing(settings.max_message_bytes)
        self._frames: deque[Frame] = deque()
        self._pings = 0
        self._fragments = Rate(settings.max_messages_per_s)
        self._deaf = False
        self._goodbye: bytes | None = None  # the answer to the peer's close frame
        self._answerer: gevent.Greenlet | None = None
        self._outbox.put(answer)

    def receive(self, timeout_s: float | None) -> Frame | None:
        """Returns the next frame, or None after `timeout_s` without one. Pings a silent peer meanwhile.

        Raises Gone: after the peer's close frame, once its earlier messages have been read; after our `close`, at once.
        """
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if (self._closing or self._framing.is_over) and not (self._framing.is_over and self._frames):
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
                    self.ping()
                continue
            self._take(data, time.monotonic())

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Queues a text message; if too many wait, closes the connection."""
        if self._closing:
            return
        if not self._outbox.put(text_frame(text), on_written) and not self._outbox.failed:
            self.close(closing.SLOW_READER)

    def flush(self) -> bool:
        """Waits until the system has taken all messages; returns False if the connection ends instead."""
        self._outbox.drain(self._settings.send_timeout_s)
        return not (self._closing or self._outbox.failed or self._outbox.held_up)

    def close(self, reason: Closing) -> None:
        """Queues the close frame after all messages; cuts the connection if that is not read in time."""
        if self._closing:
            return
        self._closing = True
        self._outbox.put_last(self._last_frame(reason))
        self._cut_soon()

    def _last_frame(self, reason: Closing) -> bytes:
        if self._goodbye is not None:
            return self._goodbye
        self._how = reason.slug
        return self._framing.goodbye(reason)

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
            while not self._framing.is_over and time.monotonic() < until_s:
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
        # gunicorn closes the socket itself
        self._outbox.cut()

    def _ended(self, broke: bool) -> Gone:
        return Gone(clean=self._framing.is_over or self._closing, how=self._how)

    def _take(self, data: bytes, received_s: float) -> None:
        text = self._framing.whole(data)
        if text is not None:
            self._on_message(text, received_s)
            return
        try:
            for said in self._framing.read(data):
                self._on_said(said, received_s)
        except Broken as broken:
            self._break_off(broken.reason)
        # the rest of a message may follow; after a pong, a turn
        acknowledge(self._sock)

    def _take_last(self, data: bytes) -> None:
        try:
            self._take(data, time.monotonic())
        except Gone:
            self._deaf = True

    def _on_said(self, said: Said, received_s: float) -> None:
        match said:
            case Message(text):
                self._on_message(text, received_s)
            case Part():
                self._pings = 0
                self._count()
            case Pong():
                self._count()
                self._pings = 0
            case Ping():
                self._count()
                if not self._closing:
                    self._outbox.put(self._framing.answer(said))
            case CloseConnection():
                self._on_close(said)

    def _on_message(self, text: str | None, received_s: float) -> None:
        self._pings = 0
        self._frames.append(Frame(text, received_s))

    def _on_close(self, said: CloseConnection) -> None:
        if not self._closing:
            # it still reads: replies to its earlier turns, above all the end of the match, go before the close frame
            self._how, self._goodbye = "goodbye", self._framing.answer(said)
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

    def ping(self) -> None:
        """Pings the peer. Raises Gone, and closes the connection, if too many pings before went unanswered.

        Unless it is excused.
        """
        if self._pings >= UNANSWERED_PINGS and not (self.excuses is not None and self.excuses()):
            self.close(closing.SILENT)
            raise Gone(clean=False, how=self._how)
        self._pings += 1
        if not self._closing:
            self._outbox.put(PING)
