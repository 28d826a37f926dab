"""The two generations of socket.io servers behind one door: the current package, and the old one kept in socketio2/.

The changes to both keep clients from making them store, log or run more than they should.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Protocol

import engineio.async_drivers.threading as driver
import socketio
from socketio.packet import Packet as NewPacket

from battlebot.config import Settings
from battlebot.runtime.cooperative import in_turn
from battlebot.transports.connection import Frame, Gone
from battlebot.transports.limits import Rate
from battlebot.transports.socketio_engines import MOST_UNREAD_BY_WEBSOCKET, NewBounded, OldBounded, is_full
from battlebot.transports.wsconnection import WebSocket
from battlebot.wire import closing
from battlebot.wire.addresses import household
from battlebot.wire.jsontext import is_deeper
from battlebot.wire.upgrade import BadUpgrade
from socketio2.socketio import Server as OldServer
from socketio2.socketio.packet import ERROR
from socketio2.socketio.packet import Packet as OldPacket

OLD, NEW = "3", "4"  # values of the query's EIO
HIJACKED = "battlebot.hijacked"  # key in the environment: the socket is used up, gunicorn must write no response
NAMESPACE = "/"
NO_NAMESPACE = "Invalid namespace"  # told to a client that names another, as if it were a path: the whole door is `/`
TOO_DEEP = "too deep"  # instead of an event whose JSON is nested too deeply
GOODBYE = "1"  # engine.io's packet that ends a session
# the head of socket.io's packet: its kind, how many attachments follow, a namespace, an id
HEAD = re.compile(r"(\d)(?:\d+-)?(/[^,]*,?)?(\d*)")
WITH_ATTACHMENTS = (5, 6)
LONGEST_NAMESPACE = 1000  # characters, with its query
LONGEST_ID = 20  # digits
PING_INTERVAL_S = 25
PING_TIMEOUT_S = {OLD: 60, NEW: 20}

Handler = Callable[..., bool | None]  # (server, sid, *arguments); that of `connect` returns whether to accept


class ConnectionCounter(Protocol):
    """Counts the connections; `sid` is engine.io's session id."""

    def admit(self, sid: str, environ: Mapping[str, Any]) -> bool:
        """Counts a connection; returns False, without counting, if there are too many."""

    def release(self, sid: str) -> None:
        """Uncounts a connection that is gone."""


class EngineSocket:
    """Our own WebSocket, with its limits and its one writer, behind the interface that both packages expect.

    A message may be as long as by polling, which is what the handshake announces (`maxPayload`).
    Each message waits until the system has taken it: a viewer that reads slowly holds up its own events, until its
    session adds no more.
    """

    _ws: WebSocket  # from the upgrade on, which comes before the handler is called

    def __init__(self, settings: Settings, handler: Callable[[EngineSocket], object], session: Any) -> None:
        self._settings = replace(settings, max_message_bytes=settings.max_body_bytes)
        self._handler = handler
        self._session = session
        self._rate = Rate(settings.max_messages_per_s)
        # a session that polls is upgraded by two packets
        self._before_upgrade = 2 if session.connected else 0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Answers the upgrade and runs the conversation to its end."""
        address = household(environ.get("REMOTE_ADDR") or "unknown")
        try:
            self._ws = WebSocket(environ, self._settings, address)
        except BadUpgrade as error:
            start_response(f"{error.status} Bad Upgrade", [*error.headers.items(), ("Content-Type", "text/plain")])
            return [f"{error}\n".encode()]
        environ[HIJACKED] = True
        try:
            self._handler(self)
        except (ValueError, LookupError, RecursionError):
            # a packet that cannot be decoded, after which the packages would keep the session
            self._ws.close(closing.PROTOCOL_ERROR)
            self._session.close(wait=False, abort=True)
        finally:
            self._ws.finish()
        return []

    def send(self, message: str | bytes) -> None:
        """Writes a text; if it is engine.io's goodbye, ends the connection.

        Raises OSError if it is binary, the peer does not read it, or the connection is over.
        """
        if isinstance(message, bytes):
            raise OSError("nothing binary is told")
        self._ws.send(message)
        if not self._ws.flush():
            raise OSError("the connection is over, or the peer does not read")
        if message == GOODBYE:
            # clients wait for the end of the connection, and the old package would wait for them
            self.close()

    def wait(self) -> str | None:
        """Returns the next text, in its turn, or None at the end. Closes a peer that sends binary messages or too many.

        Also one that goes on while it leaves the answers unread: they repeat what it says, and would all be kept.
        To decode the largest takes 20 ms, and many viewers may send one, or each many small ones, at the same moment.
        """
        try:
            frame = self._next()
        except Gone:
            return None
        if frame is None:
            self.close()
            return None
        if frame.text is None:
            self._ws.close(closing.PROTOCOL_ERROR)
            return None
        if not self._rate.take():
            self._ws.close(closing.TOO_MANY_MESSAGES)
            return None
        if is_full(self._session.queue.queue, MOST_UNREAD_BY_WEBSOCKET):
            self._ws.close(closing.SLOW_READER)
            return None
        in_turn()
        return frame.text

    def _next(self) -> Frame | None:
        """Returns the next frame, or None if an upgrade takes too long, or the session is over. Raises Gone.

        The packages wake only one of those who wait for packets of a session that is over, and nobody who reads.
        """
        if self._before_upgrade:
            self._before_upgrade -= 1
            return self._ws.receive(self._settings.login_timeout_s)
        while True:
            frame = self._ws.receive(self._settings.ping_interval_s)
            if frame is not None or self._session.closed:
                return frame
            self._ws.ping()

    def close(self) -> None:
        """Closes the connection after the queued messages."""
        self._ws.close(closing.Closing(1000))


def can_be_taken(data: Any) -> bool:
    """Returns whether a message has what clients of this door send: nothing binary, no very long namespace or id.

    The packages would keep any number of attachments, the old one for ever. It would read the longest id for a second.
    A namespace comes back with its refusal, and a hundred of these may wait for a client that does not read.
    """
    if not isinstance(data, str):
        return not isinstance(data, bytes)
    head = HEAD.match(data)
    if head is None:
        return True
    kind, namespace, number = head.groups(default="")
    return int(kind) not in WITH_ATTACHMENTS and len(namespace) <= LONGEST_NAMESPACE and len(number) <= LONGEST_ID


class _Guarded:
    """A mixin for both servers: asks the counter about each connection first, and ignores unknown events.

    Ends a session whose client sends what cannot be taken, or is no packet.

    Instead of one that is nested too deeply it triggers `TOO_DEEP`: its sender must not wait for an answer for ever.
    """

    known: Collection[str]
    max_nesting: int
    counter: ConnectionCounter
    environ: dict[str, Any]
    eio: Any

    def _handle_eio_connect(self, sid: str, environ: Mapping[str, Any]) -> Any:
        # before anything is kept of it, and before it joins a namespace, which current clients may never do
        return super()._handle_eio_connect(sid, environ) if self.counter.admit(sid, environ) else False  # type: ignore[misc]

    def _handle_eio_disconnect(self, sid: str, *reason: Any) -> None:
        self.counter.release(sid)
        super()._handle_eio_disconnect(sid, *reason)  # type: ignore[misc]

    def _handle_eio_message(self, sid: str, data: Any) -> None:
        if sid not in self.environ:
            # it came with, or waited behind, what ended its session; the packages would keep what it opens
            return
        if not can_be_taken(data):
            self.eio.disconnect(sid)
            return
        try:
            super()._handle_eio_message(sid, data)  # type: ignore[misc]
        except RecursionError:
            # it could not even be decoded
            super()._handle_event(sid, NAMESPACE, None, [TOO_DEEP])  # type: ignore[misc]
        except (ValueError, LookupError):
            # it is no packet; the packages would log each, and go on
            self.eio.disconnect(sid)

    def _handle_event(self, sid: str, namespace: str | None, id: Any, data: Any) -> None:
        # the packages would let a client trigger `connect` and `disconnect` by sending events of these names
        if isinstance(data, list) and data and isinstance(data[0], str) and data[0] in self.known:
            is_too_deep = any(is_deeper(argument, self.max_nesting) for argument in data)
            super()._handle_event(sid, namespace, id, [TOO_DEEP] if is_too_deep else data)  # type: ignore[misc]


class _Old(_Guarded, OldServer):
    """The server of socket.io 2."""

    def _engineio_server_class(self) -> type:
        return OldBounded

    def _handle_connect(self, sid: str, namespace: str | None) -> Any:
        # the package would keep any namespace that a client names, and connect a viewer twice
        if namespace not in (None, NAMESPACE):
            self._send_packet(sid, OldPacket(ERROR, NO_NAMESPACE, namespace))
            return None
        if self.manager.is_connected(sid, NAMESPACE):
            return None
        return super()._handle_connect(sid, namespace)

    def waiting(self, sid: str) -> tuple[Collection[Any], bool] | None:
        """Returns the packets that wait for the session, and whether it polls; None if it is over."""
        return _standing(self.eio.sockets.get(sid))


class _New(_Guarded, socketio.Server):
    """The server of socket.io 3 and later."""

    def _engineio_server_class(self) -> type:
        return NewBounded

    def _handle_connect(self, eio_sid: str, namespace: str | None, data: Any) -> Any:
        # the package would send a text, where clients of this generation look for an object
        if namespace not in (None, NAMESPACE):
            self._send_packet(eio_sid, NewPacket(ERROR, {"message": NO_NAMESPACE}, namespace))
            return None
        return super()._handle_connect(eio_sid, namespace, data)

    def waiting(self, sid: str) -> tuple[Collection[Any], bool] | None:
        """Returns the packets that wait for the session, and whether it polls; None if it is over."""
        return _standing(self.eio.sockets.get(self.manager.eio_sid_from_sid(sid, NAMESPACE)))


def _standing(session: Any) -> tuple[Collection[Any], bool] | None:
    return None if session is None or session.closed else (session.queue.queue, not session.upgraded)


def make_servers(
    settings: Settings, counter: ConnectionCounter, events: Mapping[str, Handler], session: Mapping[str, Handler]
) -> dict[str, Any]:
    """Returns a server for each generation, by the query's EIO.

    `events` has the handlers of events that clients may send, `session` those of `connect`, `disconnect`, `TOO_DEEP`.
    """
    made: dict[str, Any] = {}
    for generation, kind in ((OLD, _Old), (NEW, _New)):
        server = kind(
            async_mode="threading",
            # a session's events are handled one after another
            async_handlers=False,
            ping_interval=PING_INTERVAL_S,
            ping_timeout=PING_TIMEOUT_S[generation],
            max_http_buffer_size=settings.max_body_bytes,
            http_compression=False,
            cookie=None,
            # origins are checked for the whole application, in battlebot/api/origins.py
            cors_allowed_origins=[],
        )
        server.eio._async = {**driver._async, "websocket": _sockets(settings)}
        server.known, server.counter, server.max_nesting = events, counter, settings.max_nesting
        for name, handle in {**events, **session}.items():
            server.on(name, _bound(handle, server))
        made[generation] = server
    return made


def _sockets(settings: Settings) -> Callable[..., EngineSocket]:
    # the handler is a method of the engine's session
    return lambda handler, *_, **__: EngineSocket(settings, handler, handler.__self__)


def _bound(handle: Handler, server: Any) -> Callable[..., bool | None]:
    def call(sid: str, *arguments: Any) -> bool | None:
        try:
            return handle(server, sid, *arguments)
        except (ValueError, LookupError) as error:
            # the packages raise these for what is no packet, which is not our fault, and not logged
            raise RuntimeError("the handler of an event failed") from error

    return call
