"""What is changed of either package's engine, which keeps the sessions: nothing waits for, or is kept for, who is gone.

What the sessions say to each other is `socketio_servers`' to guard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

import engineio

from socketio2.engineio import Server as OldEngine

MOST_UNREAD = 100  # packets that a client which polls may leave unread and yet say more
MOST_PONGS = 8  # of them, answers to its pings: they hold what the client has sent
LONGEST_LENGTH = 9  # digits of a packet's length
PONG = 3
NO_SESSION = b'"Invalid session"'


class _Bounded:
    """Comes before the engine's class."""

    sockets: dict[str, Any]

    def handle_request(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        """One request; of a client that reads nothing and goes on talking it is the last."""
        if environ["REQUEST_METHOD"] == "POST":
            session = self.sockets.get(_asked_for(environ))
            if session is not None and _is_full(session.queue.queue):
                session.close(wait=False)
                session = None
            if session is None:
                # the old package fails where there is no id
                start_response("400 Bad Request", [("Content-Type", "text/plain")])
                return [NO_SESSION]
        return super().handle_request(environ, start_response)  # type: ignore[misc]

    def disconnect(self, sid: str | None = None) -> None:
        """Ends a session, or all: the packages wait until the client has read its last, which it may never do."""
        for session in [self.sockets.get(sid)] if sid is not None else list(self.sockets.values()):
            if session is not None:
                session.close(wait=False)

    def _trigger_event(self, event: str, *arguments: Any, **options: Any) -> Any:
        answer = super()._trigger_event(event, *arguments, **options)  # type: ignore[misc]
        if event == "disconnect":
            # whoever holds the session sends its last; the old package would keep it, and fail when it is asked for
            self.sockets.pop(arguments[0], None)
        return answer


class OldBounded(_Bounded, OldEngine):
    """Of socket.io 2."""

    def handle_request(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        """One request; a body that says more of its lengths than they can be is refused unread."""
        if environ["REQUEST_METHOD"] == "POST":
            body = environ["wsgi.input"].getvalue()
            if not can_be_framed(body):
                start_response("400 Bad Request", [("Content-Type", "text/plain")])
                return [b'"Bad payload"']
        return super().handle_request(environ, start_response)


class NewBounded(_Bounded, engineio.Server):
    """Of socket.io 3 and later."""


def can_be_framed(body: bytes) -> bool:
    """Whether the packets of a body in the old protocol's binary form can be told apart; of another form, True.

    A length is a byte a digit, up to 0xff. The package would multiply as many digits as there are.
    """
    if body.startswith(b"d="):
        body = parse_qs(body).get(b"d", [b""])[0]
    at = 0
    while at < len(body) and (body[0] <= 1):
        end = body.find(b"\xff", at + 1, at + 2 + LONGEST_LENGTH)
        digits = body[at + 1 : end]
        if end < 0 or any(digit > 9 for digit in digits):
            return False
        at = end + 1 + int("".join(map(str, digits)) or "0")
    return True


def _asked_for(environ: Mapping[str, Any]) -> str:
    return parse_qs(environ.get("QUERY_STRING", "")).get("sid", [""])[0]


def _is_full(unread: Any) -> bool:
    pongs = sum(packet is not None and packet.packet_type == PONG for packet in unread)
    return len(unread) > MOST_UNREAD or pongs > MOST_PONGS
