"""gunicorn's gevent worker, with bounds on what a connection costs before and after its request is answered.

gunicorn itself waits for ever for a client that does not read its answer, and takes any number of connections of one
address. The class is loaded in the arbiter, so nothing here may import what gevent must patch first.
"""

from __future__ import annotations

import _socket
import json
import os
import socket
from collections import Counter
from contextlib import closing
from http import HTTPStatus
from typing import Any

import gevent
from gunicorn import util
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
from battlebot.wire.addresses import household

CHECK_S = 0.1
TOO_MANY = (HTTPStatus.TOO_MANY_REQUESTS, "too-many-connections", "Too many connections of your address; close one.")
BAD = (HTTPStatus.BAD_REQUEST, "bad-request", "This is not a request that the server understands.")
OURS = (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName)  # no fault of the request's
TOO_LARGE = {
    LimitRequestLine: (HTTPStatus.REQUEST_URI_TOO_LONG, "too-large", "The address is too long."),
    LimitRequestHeaders: (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too-large", "The headers are too large."),
}


class WebWorker(GeventWorker):
    """Limits connections by address, the time for headers and answers, and stops without waiting for the idle."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._settings = load_settings()
        self._held: Counter[str] = Counter()
        self._idle: set[Any] = set()

    def timeout_ctx(self) -> gevent.Timeout:
        """How long gunicorn waits for the next request's headers, from the first byte to the last."""
        return gevent.Timeout(self._settings.header_timeout_s, False)

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """One connection, from its acceptance to its end."""
        # behind a proxy all come from one address, and the proxy counts them
        key = household(addr[0]) if addr and not self._settings.trusted_proxies else None
        limit = self._settings.max_http_per_address + self._settings.max_connections_per_address
        if key is not None and self._held[key] >= limit:
            util.write_nonblock(client, _refusal(*TOO_MANY))
            util.close(client)
            return
        if key is not None:
            self._held[key] += 1
        self._idle.add(client)
        try:
            self._bound(client)
            AsyncWorker.handle(self, listener, client, addr)
        finally:
            self._idle.discard(client)
            if key is not None:
                self._held[key] -= 1
                if not self._held[key]:
                    del self._held[key]

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """One request; the connection is over when its answer is not taken in time."""
        self._idle.discard(sock)
        try:
            super().handle_request(listener_name, req, sock, addr)
        except TimeoutError:
            self.log.info("Answer not taken in time: %s", addr[0] if addr else "")
            raise StopIteration from None
        finally:
            self._idle.add(sock)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """What is no HTTP is refused in our form; a connection that ends with its worker is nothing to log."""
        if isinstance(exc, gevent.GreenletExit):
            return
        if isinstance(exc, ParseException) and not isinstance(exc, OURS):
            self.log.info("Not a request: %s from %s", type(exc).__name__, addr[0] if addr else "")
            util.write_nonblock(client, _refusal(*TOO_LARGE.get(type(exc), BAD)))
            return
        super().handle_error(req, client, addr, exc)

    def stop_waiting(self) -> None:
        """From now on connections that wait for a request are ended: the worker is going to stop."""
        gevent.spawn(self._end_idle)

    def _end_idle(self) -> None:
        while True:
            for client in list(self._idle):
                _say_end(client)
            gevent.sleep(CHECK_S)

    def _bound(self, client: Any) -> None:
        """Time-outs of the socket: for one part of an answer, and for a peer that has vanished from the network."""
        client.settimeout(self._settings.response_timeout_s)
        if client.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
            wait_ms = int(1000 * self._settings.response_timeout_s)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, wait_ms)


def _refusal(status: HTTPStatus, code: str, sentence: str) -> bytes:
    """An answer in the form of the application's errors, for what never reaches the application."""
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


def _say_end(client: Any) -> None:
    """Makes the reader of a socket find that the peer sends no more; gevent's own `shutdown` would raise in it."""
    try:
        with closing(_socket.socket(fileno=os.dup(client.fileno()))) as twin:
            twin.shutdown(socket.SHUT_RD)
    except OSError:
        return
