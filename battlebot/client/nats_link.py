"""One connection to NATS: as whom it connects, what ends it, what its author is told. Knows no histories."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import AuthorizationError, Error

from battlebot.client.address import is_host_name
from battlebot.client.errors import BadAddress, ClientError, LoginFailed, Refused, Unreachable

log = logging.getLogger("battlebot.client")

PORT = 4222
FIRST_S = 2.0  # without a first connection, before a warning is logged
# between attempts; a server misses nobody in the first five seconds after NATS has come back
AGAIN_S = 2.0
CANCELLED_S = 0.1
# in what NATS says, in lower case, where another attempt would hear the same
NOT_LET_IN = ("authorization violation", "authentication expired", "authentication revoked", "credentials revoked")


@dataclass(frozen=True)
class NatsAddress:
    """`server`: the URL without credentials. `credentials`: `user` and `password`, or `token`, or nothing."""

    server: str
    credentials: dict[str, str] = field(repr=False)


def parse_nats_url(url: str) -> NatsAddress:
    """Read `nats://host:4222`, `tls://user:password@host` or `nats://token@host`. Raises BadAddress.

    User, password and token are percent-decoded.
    """
    try:
        parts = urlsplit(url.strip() if "://" in url else f"nats://{url.strip()}")
        host, port = parts.hostname or "", parts.port or PORT
    except ValueError:
        host, port = "", PORT
    tail = url.rpartition("@")[2]  # without the password
    if not host or parts.scheme not in ("nats", "tls") or not is_host_name(host):
        raise BadAddress(f"{tail!r} is not an address like nats://127.0.0.1:{PORT}.")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise BadAddress(f"{tail!r} is not an address like nats://127.0.0.1:{PORT}: a password is percent-encoded.")
    server = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    if parts.password is not None:
        return NatsAddress(server, {"user": unquote(parts.username or ""), "password": unquote(parts.password)})
    return NatsAddress(server, {"token": unquote(parts.username)} if parts.username else {})


class _NoTls(Error):
    """The URL asks for TLS, and the NATS server has none."""


class _Client(Client):
    """nats-py's client; but it sends no credentials in plain text where the URL asks for TLS."""

    def _connect_command(self) -> bytes:
        asked = self._current_server is not None and self._current_server.uri.scheme == "tls"
        if asked and not self._server_info.get("tls_required"):
            raise _NoTls
        return super()._connect_command()


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    # behind ` to "` there may be the uid, which is a secret
    return (str(error) or type(error).__name__).removeprefix("nats: ").strip("'").partition(' to "')[0]


class Link:
    """A connection that nats-py restores when it breaks.

    Call `open`, `listen` and `ended` in this order, and `close` in any case.
    """

    def __init__(self, address: NatsAddress, subject: str) -> None:
        self.client = _Client()
        self._address, self._subject = address, subject
        self._over = asyncio.Event()  # nats-py has given up, or going on is of no use
        self._problem: ClientError | None = None
        self._cause, self._told = "no answer", ""
        self._known = False  # whether it has been connected

    async def open(self) -> None:
        """Wait for the first connection. Raises LoginFailed, Refused, Unreachable."""
        connecting = asyncio.ensure_future(self._connect())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({connecting, over}, timeout=FIRST_S, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done() and not over.done() and not self._told:
                log.warning("no connection to %s yet (%s); it is waited for", self._address.server, self._cause)
            # not `await connecting`: connect may swallow a cancellation, and would swallow ours as well
            await asyncio.wait({connecting, over}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
            while not connecting.done():
                # once is not enough: before Python 3.12 a cancellation is lost if it arrives as an attempt fails
                connecting.cancel()
                await asyncio.wait({connecting}, timeout=CANCELLED_S)
        self._raise_problem()
        connecting.result()
        self._known = True

    async def listen(self, queue: str, asked: Callable[[Msg], Awaitable[None]]) -> None:
        """Subscribe. Raises Refused if this user may not."""
        try:
            await self.client.subscribe(self._subject, queue, cb=asked)
            # a refusal comes before the answer to the second ping: the first one overtakes the subscription
            await self.client.flush()
            await self.client.flush()
        except Error as error:
            log.debug("NATS: %s", error)  # the connection is lost again: nats-py subscribes when it is back
        self._raise_problem()

    async def ended(self) -> None:
        """Wait until NATS has ended the connection for good. Raises LoginFailed, Refused, Unreachable."""
        await self._over.wait()
        self._raise_problem()

    async def close(self) -> None:
        """Close the connection, if there has been one."""
        if self._known:
            await self.client.close()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            raise self._problem

    async def _connect(self) -> None:
        options: dict[str, Any] = {"max_reconnect_attempts": -1, "reconnect_time_wait": AGAIN_S}
        options |= {"error_cb": self._failed, "closed_cb": self._closed}
        options |= {"disconnected_cb": self._lost, "reconnected_cb": self._back, **self._address.credentials}
        await self.client.connect(self._address.server, name=self._subject, **options)

    async def _lost(self) -> None:
        if not self.client.is_closed:
            log.info("%s is gone; it is waited for", self._address.server)

    async def _back(self) -> None:
        self._told = ""
        log.info("%s is back", self._address.server)

    async def _closed(self) -> None:
        if self.client.last_error is not None:
            await self._failed(self.client.last_error)
        self._over.set()

    async def _failed(self, error: Exception) -> None:
        """An attempt to connect has failed, or NATS has said something: end if that is final, else tell it once."""
        self._cause = _said(error)
        log.debug("NATS: %s", self._cause)
        self._problem = self._problem or self._final(error)
        if self._problem is not None:
            self._over.set()
        elif type(error) is Error and self._cause != self._told:
            self._told = self._cause
            log.warning("%s: %s", self._address.server, self._told)

    def _final(self, error: Exception) -> ClientError | None:
        """The error to end with, or None if another attempt may do better."""
        server, text = self._address.server, str(error).lower()
        if isinstance(error, AuthorizationError) or any(words in text for words in NOT_LET_IN):
            what = "this user and password" if "user" in self._address.credentials else "this token"
            what = what if self._address.credentials else "a bot without user and password"
            return LoginFailed("login-failed", f"{server} does not accept {what}.")
        if "permissions violation for subscription" in text and f'"{self._subject.lower()}"' in text:
            return Refused("", f"{server} does not let this user listen to {self._subject}.")
        if isinstance(error, _NoTls):
            return Unreachable(f"{server} has no TLS: for plain text write nats://.")
        if isinstance(error, ssl.SSLCertVerificationError):
            return Unreachable(f"The certificate of {server} is not trusted: {error.verify_message}.")
        if isinstance(error, socket.gaierror) and not self._known and error.errno != socket.EAI_AGAIN:
            return Unreachable(f"{server} is not known: {error.strerror}.")
        return None
