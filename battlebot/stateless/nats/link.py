"""Keeps this process connected to NATS: whenever there is no connection, another one is tried. Not what it is for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import structlog
from nats.aio.client import Srv
from nats.errors import Error

from battlebot.config import nats_login
from battlebot.stateless.nats.acknowledger import Acknowledger
from battlebot.stateless.nats.client import NatsClient
from battlebot.stateless.nats.intake import note

log = structlog.get_logger()

TRY_S = 2.0
CONNECT_S = 5.0  # how long a NATS that is being restarted may take
AGAIN_S = 0.1
RETRY_S = 0.5  # at the same server
PING_S = 5  # after three that are not answered the connection is given up


class NatsLink:
    """The connection to the cluster of `url` (a NATS_URL), from `start` or the first call of `connected` until `close`.

    `greet(client, seconds)` is awaited when a connection is made, which took so long, before anybody is given it;
    `lost()` is called when it has ended, and `refused(sentence)` when NATS does not allow something.
    """

    def __init__(
        self,
        url: str,
        most_bytes: int,
        greet: Callable[[NatsClient, float], Awaitable[None]],
        lost: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._login = nats_login(url)
        self._most_bytes = most_bytes
        self._greet, self._lost, self._refused = greet, lost, refused
        self._servers: list[Srv] = []
        self._keeping: asyncio.Task[None] | None = None
        self._there = asyncio.Event()
        self._patient_until_s = 0.0  # by the clock of the event loop
        self._failure: Exception = TimeoutError()
        # the latest ones, which may have ended, and when they began
        self.client: NatsClient | None = None
        self._acknowledger: Acknowledger | None = None
        self.since_s: float | None = None

    def start(self) -> None:
        """Connects, without waiting; must be called within the event loop."""
        if self._keeping is None:
            self._wait_for_it()
            self._keeping = asyncio.create_task(self._keep())

    @property
    def is_there(self) -> bool:
        """Whether there is a connection; any thread may look."""
        return self._there.is_set()

    async def connected(self) -> tuple[NatsClient, Acknowledger]:
        """Returns the connection, and what acknowledges over it. Raises nats' Error if there is none for `CONNECT_S`.

        All who wait do so for the same attempts; who comes after that is told at once.
        """
        self.start()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._patient_until_s):
                await self._there.wait()
        if not self._there.is_set() or self.client is None or self._acknowledger is None:
            raise Error(f"nats: {why(self._failure)}")
        return self.client, self._acknowledger

    def _wait_for_it(self) -> None:
        self._patient_until_s = asyncio.get_running_loop().time() + CONNECT_S

    async def close(self) -> None:
        """Ends the connection for good."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})

    async def _keep(self) -> None:
        while True:
            client, began_s = NatsClient(self._most_bytes, self._servers, self._refused), time.monotonic()
            try:
                await self._connect(client)
                await self._greet(client, time.monotonic() - began_s)
                await self._use(client)
            except Exception as error:
                # of whatever kind: nobody else would try again
                self._failure = error
                note(error)
            finally:
                client.drop()
            await asyncio.sleep(AGAIN_S)

    async def _connect(self, client: NatsClient) -> None:
        """Connects within `TRY_S`: nats-py itself would try for ever."""
        trying = asyncio.create_task(client.open(self._login.server, **self._options()))
        try:
            await asyncio.wait({trying}, timeout=TRY_S)
        finally:
            while not trying.done():
                # once is not enough: before Python 3.12 a cancellation is lost if an attempt fails at the same moment
                trying.cancel()
                await asyncio.wait({trying}, timeout=AGAIN_S)
        if trying.cancelled():
            raise client.last_error or TimeoutError()
        trying.result()

    async def _use(self, client: NatsClient) -> None:
        """Returns when the connection has ended."""
        acknowledger = Acknowledger(client)
        self.client, self._acknowledger, self.since_s = client, acknowledger, time.monotonic()
        self._there.set()
        try:
            await client.ended.wait()
        finally:
            self._there.clear()
            self._wait_for_it()
            acknowledger.stop()
        self._failure = client.last_error or self._failure
        log.warning("nats.disconnected", error=why(self._failure))
        self._lost()

    def _options(self) -> dict[str, Any]:
        return {
            **self._login.credentials,
            "name": "battlebot",
            "reconnect_time_wait": RETRY_S,
            "ping_interval": PING_S,
            "max_outstanding_pings": 2,
            "error_cb": _noted,
        }


def why(error: Exception) -> str:
    """NATS's own words, which an operator needs; for a system error, which would name addresses, only its class."""
    said = str(error).removeprefix("nats: ").strip("'") if isinstance(error, Error) else ""
    return said or type(error).__name__


async def _noted(error: Exception) -> None:
    note(error)
