"""gunicorn's gevent worker, with limits on the connections of an address and on the time that clients may take.

gunicorn itself waits for ever for a client that does not read its answer, and accepts any number of connections from
one address. The arbiter loads this class, so this module must not import anything that gevent must patch first.
"""

from __future__ import annotations

import _socket
import json
import os
import socket
from collections import Counter
from contextlib import closing, suppress
from http import HTTPStatus
from typing import Any

import gevent
from gevent.server import StreamServer
from gunicorn import http, util
from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.errors import (
    ConfigurationProblem,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from battlebot.config import load_settings
from battlebot.embedded.webparser import UnhurriedParser
from battlebot.runtime.cooperative import Line, in_turn
from battlebot.wire.addresses import household

CHECK_S = 0.1
LOGGING_IN_S = 0.5  # once the port is closed, those who are logging in have this long before all are sent away
# connections in one round of the hub, of which a turn takes several. gevent would accept a hundred: in a flood of them,
# the turns of those who play would wait. If it were fewer, many bots that reconnect to a busy node would wait
ACCEPTED_AT_ONCE = 16
UNSENT_BYTES = 65_536  # of an answer that the system takes before they are sent: by itself it may take megabytes
REST_BYTES = 2_097_152  # of a body that nobody has read: more than a proxy takes from a client
REST_S = 1.0  # the longest time in which it is still taken
TOO_MANY = (HTTPStatus.TOO_MANY_REQUESTS, "too-many-connections", "Too many connections of your address; close one.")
BAD = (HTTPStatus.BAD_REQUEST, "bad-request", "This is not a request that the server understands.")
OURS = (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName)  # not the request's fault
TOO_LARGE = {
    LimitRequestLine: (HTTPStatus.REQUEST_URI_TOO_LONG, "too-large", "The address is too long."),
    LimitRequestHeaders: (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too-large", "The headers are too large."),
}


class WebWorker(GeventWorker):
    """Limits connections per address and the time for headers and answers; stops without waiting for idle clients."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._settings = load_settings()
        self._held: Counter[str] = Counter()
        self._idle: set[Any] = set()
        self._names: dict[Any, _Named] = {}
        self._leaves = False
        self._upgrades = Line()

    def patch(self) -> None:
        """Make the listeners gevent's, and note their names; have requests parsed by our parser."""
        super().patch()
        http.RequestParser = UnhurriedParser
        self._names = {listener: _Named(listener.getsockname()) for listener in self.sockets}
        StreamServer.max_accept = ACCEPTED_AT_ONCE

    def timeout_ctx(self) -> gevent.Timeout:
        """The limit for reading the next request's headers, including the wait for their first byte."""
        return gevent.Timeout(self._settings.header_timeout_s, False)

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """Handle one connection from accept to close."""
        # Behind a proxy all connections come from its address; the proxy must limit them
        key = household(addr[0]) if addr and not self._settings.trusted_proxies else None
        limit = self._settings.max_http_per_address + self._settings.max_connections_per_address
        if key is not None and self._held[key] >= limit:
            # it may have gone already
            with suppress(OSError):
                util.write_nonblock(client, _refusal(*TOO_MANY))
            util.close(client)
            return
        if key is not None:
            self._held[key] += 1
        self._idle.add(client)
        try:
            self._bound(client)
            AsyncWorker.handle(self, self._names.get(listener, listener), client, addr)
        finally:
            self._idle.discard(client)
            if key is not None:
                self._held[key] -= 1
                if not self._held[key]:
                    del self._held[key]

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Handle one request; close the connection if the client does not read the answer in time."""
        self._idle.discard(sock)
        # hundreds of open connections may each send one at the same moment; bots that come wait for none of the others
        (self._upgrades.in_turn if _is_upgrade(req) else in_turn)()
        try:
            super().handle_request(listener_name, req, sock, addr)
        except TimeoutError:
            self.log.info("Answer not taken in time: %s", addr[0] if addr else "")
            raise StopIteration from None
        except StopIteration:
            if _has_rest(req):
                _take_rest(sock)
            raise
        finally:
            self._idle.add(sock)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is not valid HTTP with our error format; ignore connections killed with the worker."""
        if isinstance(exc, gevent.GreenletExit):
            return
        if isinstance(exc, ParseException) and not isinstance(exc, OURS):
            self.log.info("Not a request: %s from %s", type(exc).__name__, addr[0] if addr else "")
            util.write_nonblock(client, _refusal(*TOO_LARGE.get(type(exc), BAD)))
            return
        super().handle_error(req, client, addr, exc)

    def notify(self) -> None:
        """Tell the arbiter that this worker lives; once it is to stop and gunicorn has closed the port, leave.

        Not before: a bot comes back as soon as it is sent away, and a proxy passes it on to another node only if this
        one refuses it. Original clients die of a connection that is accepted and then closed without a salt.
        """
        super().notify()
        if not self.alive and not self._leaves:
            self._leaves = True
            gevent.spawn(self._leave)

    def run(self) -> None:
        """Serve until the worker is told to stop and all connections have ended."""
        super().run()
        if not self._leaves:  # nobody was connected
            self._drain()

    def _leave(self) -> None:
        """Send the bots to another node, and close idle connections from now on."""
        gevent.sleep(LOGGING_IN_S)
        self._drain()
        while True:
            for client in list(self._idle):
                _say_end(client)
            gevent.sleep(CHECK_S)

    def _drain(self) -> None:
        drain = getattr(self.wsgi, "extensions", {}).get("battlebot.drain")
        if drain is not None:
            drain()

    def _bound(self, client: Any) -> None:
        """Set the socket's time-outs: for one write of an answer, and for a peer that has left the network.

        Also how much of an answer the system keeps for a peer that does not read.
        """
        client.settimeout(self._settings.response_timeout_s)
        if client.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
            wait_ms = int(1000 * self._settings.response_timeout_s)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, wait_ms)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


def _refusal(status: HTTPStatus, code: str, sentence: str) -> bytes:
    """A response in the application's error format, for requests that never reach the application."""
    body = json.dumps({"error": sentence, "code": code})
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Connection: close",
        "Content-Type: application/json",
        "X-Content-Type-Options: nosniff",
        "Content-Security-Policy: default-src 'none'",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Opener-Policy: same-origin",
        f"Content-Length: {len(body)}",
        *(("Retry-After: 2",) if status is HTTPStatus.TOO_MANY_REQUESTS else ()),
    )
    return "\r\n".join((*head, "", body)).encode()


class _Named:
    """Stands in for a listener, which is closed when the worker stops: whoever was let in before is still answered."""

    def __init__(self, name: Any) -> None:
        self._name = name

    def getsockname(self) -> Any:
        """Return the listener's address."""
        return self._name


def _is_upgrade(req: Any) -> bool:
    """Whether the request is a bot's or a viewer's for a WebSocket."""
    return any(name == "UPGRADE" for name, _ in req.headers)


def _has_rest(req: Any) -> bool:
    """Whether the client may still send the body of an answered request: nobody has read it, or not all of it."""
    reader = getattr(req.body, "reader", None)
    return isinstance(reader, ChunkedReader) or (isinstance(reader, LengthReader) and reader.length > 0)


def _take_rest(client: Any) -> None:
    """End the answer, and take what the client sends meanwhile: it would get a reset instead of the answer."""
    try:
        client.shutdown(socket.SHUT_WR)
        taken = 0
        with gevent.Timeout(REST_S, False):
            while taken < REST_BYTES and (data := client.recv(65_536)):
                taken += len(data)
    except OSError:
        return


def _say_end(client: Any) -> None:
    """Make the socket's reader see end of file; gevent's own `shutdown` would raise in the reader."""
    try:
        with closing(_socket.socket(fileno=os.dup(client.fileno()))) as twin:
            twin.shutdown(socket.SHUT_RD)
    except OSError:
        return
