"""Changes to both packages' engines, which keep the sessions: nothing is kept, or waits, for a client that is gone.

`socketio_servers` guards the connections and events of these sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote_to_bytes

import engineio

from socketio2.engineio import Server as OldEngine

MOST_UNREAD = 100  # packets that a polling client may leave unread and still send more
MOST_UNREAD_BY_WEBSOCKET = 300  # the same of one by WebSocket: more than all events that wait for a slow reader
MOST_PONGS = 8  # of either's, answers to its pings: they repeat the data that the client sent
LONGEST_LENGTH = 9  # digits of a packet's length
PONG = 3
NO_SESSION = b'"Invalid session"'


class _Bounded:
    """A mixin for an engine's class; must be the first base."""

    sockets: dict[str, Any]

    def handle_request(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        """Answers a request; closes the session of a client that keeps sending without reading."""
        if environ["REQUEST_METHOD"] == "POST":
            session = self.sockets.get(_asked_for(environ))
            if session is not None and is_full(session.queue.queue):
                session.close(wait=False)
                session = None
            if session is None:
                # the old package raises an exception if there is no session id
                start_response("400 Bad Request", [("Content-Type", "text/plain")])
                return [NO_SESSION]
        return super().handle_request(environ, start_response)  # type: ignore[misc]

    def disconnect(self, sid: str | None = None) -> None:
        """Ends a session, or all (None), without waiting: the packages wait until the client has read everything."""
        for session in [self.sockets.get(sid)] if sid is not None else list(self.sockets.values()):
            if session is not None:
                session.close(wait=False)

    def _trigger_event(self, event: str, *arguments: Any, **options: Any) -> Any:
        answer = super()._trigger_event(event, *arguments, **options)  # type: ignore[misc]
        if event == "disconnect":
            # whoever holds the session sends its last packets; the old package would keep it, and fail when it is used
            self.sockets.pop(arguments[0], None)
        return answer


class OldBounded(_Bounded, OldEngine):
    """The engine of socket.io 2."""

    def handle_request(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        """Answers a request; refuses a body with impossible packet lengths before it is decoded."""
        if environ["REQUEST_METHOD"] == "POST":
            body = environ["wsgi.input"].getvalue()
            if not can_be_framed(body):
                start_response("400 Bad Request", [("Content-Type", "text/plain")])
                return [b'"Bad payload"']
        return super().handle_request(environ, start_response)


class NewBounded(_Bounded, engineio.Server):
    """The engine of socket.io 3 and later."""


def can_be_framed(body: bytes) -> bool:
    """Returns whether a body in the old protocol's binary form has valid packet lengths; True for any other body.

    A length has one byte per digit, at most `LONGEST_LENGTH`, and ends with 0xff. The package would compute with any
    number of digits. A form, which begins with `d=`, must be ASCII, escaped and not: with Python 3.11 and 3.12 the
    package can read no other.
    """
    if body.startswith(b"d="):
        if not unquote_to_bytes(body).isascii():
            return False
        body = parse_qs(body).get(b"d", [b""])[0]
    at = 0
    while at < len(body) and (body[0] <= 1):
        end = body.find(b"\xff", at + 1, at + 2 + LONGEST_LENGTH)
        digits = body[at + 1 : end]
        if end < 0 or any(digit > 9 for digit in digits):
            return False
        at = end + 1 + int("".join(map(str, digits)) or "0")
    return True


def is_full(unread: Collection[Any], most: int = MOST_UNREAD) -> bool:
    """Returns whether a client that leaves so much unread may say no more: over `most` packets, or too many pongs."""
    pongs = sum(packet is not None and packet.packet_type == PONG for packet in unread)
    return len(unread) > most or pongs > MOST_PONGS


def _asked_for(environ: Mapping[str, Any]) -> str:
    return parse_qs(environ.get("QUERY_STRING", "")).get("sid", [""])[0]
