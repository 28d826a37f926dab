"""What doors' connections have in common as gevent sockets: `Inlet` reads, `Outbox` writes. No protocol."""

from __future__ import annotations

import gevent
from gevent import socket

from battlebot.config import Settings
from battlebot.transports.connection import Gone
from battlebot.transports.inlet import Inlet
from battlebot.transports.keepalive import keep_alive
from battlebot.transports.outbox import SEND_BUFFER_BYTES, Outbox
from battlebot.wire.closing import SLOW_READER


class PeerSocket:
    """A connection of a peer; a door's own class, made of this one, knows what is said, and closes the socket."""

    def __init__(self, sock: socket.socket, settings: Settings, address: str) -> None:
        self.address = address
        self._settings = settings
        self._sock = sock
        self._closing = False
        self._finishing = False
        self._how = "broken"
        self._cutter: gevent.Greenlet | None = None
        # reading and writing have separate time-outs; the socket's would apply to both
        sock.settimeout(None)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        keep_alive(sock)
        self._inlet = Inlet(sock)
        self._outbox = Outbox(sock, settings.outbox_messages, settings.send_timeout_s)

    @property
    def has_ended(self) -> bool:
        """Whether the peer has ended the connection, as far as is known, though it may have said something before."""
        return self._inlet.has_ended

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read."""
        return self._outbox.held_up

    def _cut_soon(self) -> None:
        """Call when the last message is queued: cuts the connection if that is not read in time; wakes the reader."""
        self._cutter = gevent.spawn_later(self._settings.close_timeout_s, self._outbox.cut)
        gevent.get_hub().loop.run_callback(self._wake)

    def _wake(self) -> None:
        """Interrupts the reader of a connection that has been closed; the hub calls this."""
        if not self._finishing:
            self._inlet.interrupt(Gone(clean=True, how=self._how))

    def _read(self, wait_s: float) -> bytes | None:
        """Returns what the peer sent, or None if nothing came in time. Raises Gone at the end of the stream."""
        try:
            data = self._inlet.read(max(wait_s, 0.001))
        except OSError:
            raise self._gone(broke=True) from None
        if data == b"":
            raise self._gone(broke=False)
        return data

    def _gone(self, broke: bool) -> Gone:
        if self._outbox.failed and self._outbox.held_up and not self._closing:
            # it did not read: its own doing
            return Gone(clean=True, how=SLOW_READER.slug)
        return self._ended(broke)

    def _ended(self, broke: bool) -> Gone:
        """Returns how the stream ended, by its end or by the network (`broke`), in the terms of the protocol."""
        raise NotImplementedError
