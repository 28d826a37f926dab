"""The two generations of socket.io servers behind one door: today's package, and the old one kept in socketio2/.

Here is what is done to both so that no client can make them hold, log or run more than it should.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import engineio.async_drivers.threading as driver
import socketio
from gevent.event import Event

from battlebot.config import Settings
from battlebot.transports.connection import Gone
from battlebot.transports.limits import Rate
from battlebot.transports.socketio_engines import NewBounded, OldBounded
from battlebot.wire import closing
from battlebot.wire.addresses import household
from battlebot.wire.upgrade import BadUpgrade
from socketio2.socketio import Server as OldServer

OLD, NEW = "3", "4"  # what the query's EIO says
HIJACKED = "battlebot.hijacked"  # in the environment: the socket has been used up, gunicorn must write no response
NAMESPACE = "/"
PING_INTERVAL_S = 25
PING_TIMEOUT_S = {OLD: 60, NEW: 20}

OpenSocket = Callable[[Mapping[str, Any], Settings, str], Any]  # raises BadUpgrade
Handler = Callable[..., bool | None]  # (server, sid, *arguments); of `connect`: whether the client may come


class Guard(Protocol):
    """Who counts the connections; `sid` is engine.io's."""

    def admit(self, sid: str, environ: Mapping[str, Any]) -> bool:
        """Whether one more may come."""

    def release(self, sid: str) -> None:
        """It is gone."""


class EngineSocket:
    """What both packages take for a WebSocket: our own, with its limits and its one writer.

    Each message waits until it has been written, so that a viewer that reads slowly slows down its own stream only.
    """

    def __init__(self, settings: Settings, open_socket: OpenSocket, handler: Callable[[Any], Any]) -> None:
        self._settings = settings
        self._open = open_socket
        self._handler = handler
        self._rate = Rate(settings.max_messages_per_s)
        self._ws: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Answers the upgrade and holds the conversation."""
        address = household(environ.get("REMOTE_ADDR") or "unknown")
        try:
            self._ws = self._open(environ, self._settings, address)
        except BadUpgrade as error:
            start_response(f"{error.status} Bad Upgrade", [*error.headers.items(), ("Content-Type", "text/plain")])
            return [f"{error}\n".encode()]
        environ[HIJACKED] = True
        try:
            self._handler(self)
        finally:
            self._ws.finish()
        return []

    def send(self, message: str | bytes) -> None:
        """Writes a text. Raises OSError if it cannot be written in time."""
        if isinstance(message, bytes):
            raise OSError("nothing binary is told")
        written = Event()
        self._ws.send(message, lambda _: written.set())
        if not written.wait(self._settings.send_timeout_s):
            raise OSError("the peer does not read")

    def wait(self) -> str | None:
        """The next text; None at the end."""
        try:
            frame = self._ws.receive(None)
        except Gone:
            return None
        if frame is None or frame.text is None:
            self._ws.close(closing.PROTOCOL_ERROR)
            return None
        if not self._rate.take():
            self._ws.close(closing.TOO_MANY_MESSAGES)
            return None
        return frame.text

    def close(self) -> None:
        """The server has said its last."""
        if self._ws is not None:
            self._ws.close(closing.Closing(1000))


class _Guarded:
    """What is changed of either server: who may come is asked first, and an event that nobody knows is nothing."""

    known: Collection[str]
    guard: Guard

    def _handle_eio_connect(self, sid: str, environ: Mapping[str, Any]) -> Any:
        # before anything is kept of it, and before it has named a namespace, which today's clients may never do
        return super()._handle_eio_connect(sid, environ) if self.guard.admit(sid, environ) else False  # type: ignore[misc]

    def _handle_eio_disconnect(self, sid: str, *reason: Any) -> None:
        self.guard.release(sid)
        super()._handle_eio_disconnect(sid, *reason)  # type: ignore[misc]

    def _handle_event(self, sid: str, namespace: str | None, id: Any, data: Any) -> None:
        # the packages would let a client say `connect` and `disconnect`, as if they had
        if isinstance(data, list) and data and isinstance(data[0], str) and data[0] in self.known:
            super()._handle_event(sid, namespace, id, data)  # type: ignore[misc]


class _Old(_Guarded, OldServer):
    """Speaks socket.io 2."""

    def _engineio_server_class(self) -> type:
        return OldBounded

    def _handle_connect(self, sid: str, namespace: str | None) -> Any:
        # it would keep whatever namespaces a client thinks of
        return super()._handle_connect(sid, namespace) if namespace in (None, NAMESPACE) else None

    def waiting(self, sid: str) -> tuple[int, bool] | None:
        """How many messages the session has yet to be sent, and whether it polls; None if it is over."""
        return _standing(self.eio.sockets.get(sid))


class _New(_Guarded, socketio.Server):
    """Speaks socket.io 3 to 5."""

    def _engineio_server_class(self) -> type:
        return NewBounded

    def waiting(self, sid: str) -> tuple[int, bool] | None:
        """How many messages the session has yet to be sent, and whether it polls; None if it is over."""
        return _standing(self.eio.sockets.get(self.manager.eio_sid_from_sid(sid, NAMESPACE)))


def _standing(session: Any) -> tuple[int, bool] | None:
    return None if session is None or session.closed else (session.queue.qsize(), not session.upgraded)


def make_servers(
    settings: Settings,
    open_socket: OpenSocket,
    guard: Guard,
    events: Mapping[str, Handler],
    session: Mapping[str, Handler],
) -> dict[str, Any]:
    """A server for each generation, by what the query's EIO says.

    `events` are those that clients may send, `session` has `connect` and `disconnect`.
    """
    made: dict[str, Any] = {}
    for generation, kind in ((OLD, _Old), (NEW, _New)):
        server = kind(
            async_mode="threading",
            # one event of a session after the other
            async_handlers=False,
            ping_interval=PING_INTERVAL_S,
            ping_timeout=PING_TIMEOUT_S[generation],
            max_http_buffer_size=settings.max_body_bytes,
            http_compression=False,
            cookie=None,
            # which origins may come is the whole house's rule, and not theirs
            cors_allowed_origins=[],
        )
        server.eio._async = {**driver._async, "websocket": _sockets(settings, open_socket)}
        server.known, server.guard = events, guard
        for name, handle in {**events, **session}.items():
            server.on(name, _bound(handle, server))
        made[generation] = server
    return made


def _sockets(settings: Settings, open_socket: OpenSocket) -> Callable[..., EngineSocket]:
    return lambda handler, *_, **__: EngineSocket(settings, open_socket, handler)


def _bound(handle: Handler, server: Any) -> Callable[..., bool | None]:
    def call(sid: str, *arguments: Any) -> bool | None:
        return handle(server, sid, *arguments)

    return call
