"""One connection of this process to NATS, on an event loop in a thread of its own; asked from any other thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError, NoServersError

from battlebot.stateless.repeats import Mark

log = structlog.get_logger()

ANSWERS = "bot.publish_event"  # followed by the match's id: where bots answer that do not look at the reply subject
TRY_S = 2.0
CONNECT_S = 5.0  # a server that is being restarted has so long to be there
NOBODY_S = 2.0  # a bot that is being restarted has so long to be back
AGAIN_S = 0.1
READING_S = 0.05  # after the limit: what arrived in time must be read before the time-out is called
UNSURE_S = 1.0  # for so long something better than what may be a repeat of the last turn is waited for

Marking = Callable[[bytes], Mark]


class NoLine(Exception):
    """NATS does not answer, or went away meanwhile: no bot's fault."""


class Silence(Exception):
    """No answer came from the bot: `late`, or nobody listens to its subject."""

    def __init__(self, code: str, sentence: str, took_s: float, late: bool) -> None:
        super().__init__(sentence)
        self.code, self.took_s, self.late = code, took_s, late


class _Published:
    """What bots publish for one question. `found` becomes the answer, with the moment (monotonic) when it came."""

    def __init__(self, marking: Marking) -> None:
        self.found: asyncio.Future[tuple[bytes, float]] = asyncio.get_running_loop().create_future()
        self.unsure: tuple[bytes, float] | None = None
        self.repeats = 0
        self._marking = marking

    def put(self, data: bytes) -> None:
        """Takes one message; the first that is the answer counts."""
        came = (data, time.monotonic())
        mark = Mark.ANSWER if self.found.done() else self._marking(data)
        if mark is Mark.ANSWER:
            self._settle(came)
        elif mark is Mark.REPEAT:
            self.repeats += 1
        elif self.unsure is None:
            self.unsure = came
            asyncio.get_running_loop().call_later(UNSURE_S, self._settle, came)

    def _settle(self, came: tuple[bytes, float]) -> None:
        if not self.found.done():
            self.found.set_result(came)


class NatsLine:
    """The connection to `url`, which is made when somebody is first asked."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._connecting: asyncio.Lock | None = None
        self._waiting: dict[str, _Published] = {}
        self._breaks = 0

    def ask(
        self,
        subject: str,
        match_id: str,
        request: bytes,
        limit_s: float,
        marking: Marking = lambda data: Mark.ANSWER,
    ) -> tuple[bytes, float]:
        """The answer, and how many seconds it took; of what is published `marking` tells what it is.

        Raises Silence, NoLine.
        """
        return asyncio.run_coroutine_threadsafe(
            self._asked(subject, match_id, request, limit_s, marking), self._running_loop()
        ).result()

    def close(self) -> None:
        """Ends the connection for good; nobody may be asking."""
        loop, client = self._loop, self._client
        if loop is not None and client is not None:
            # where the server is gone, what tries to reach it again is cancelled, and what closes at times with it
            with suppress(CancelledError):
                asyncio.run_coroutine_threadsafe(client.close(), loop).result()
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="nats", daemon=True).start()
            return self._loop

    async def _asked(
        self, subject: str, match_id: str, request: bytes, limit_s: float, marking: Marking
    ) -> tuple[bytes, float]:
        client, breaks = await self._connected(), self._breaks
        published = self._waiting[match_id] = _Published(marking)
        began_s = time.monotonic()
        try:
            while True:
                left_s = began_s + limit_s + READING_S - time.monotonic()
                asked = asyncio.ensure_future(client.request(subject, request, timeout=max(left_s, READING_S)))
                either: set[asyncio.Future[Any]] = {asked, published.found}
                try:
                    await asyncio.wait(either, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
                    took_s = time.monotonic() - began_s
                    if published.found.done():
                        data, came_s = published.found.result()
                        return data, came_s - began_s
                    if asked.done() and asked.exception() is None:
                        return asked.result().data, took_s
                    if self._is_silent(asked, took_s, limit_s, breaks):
                        return _without_reply(published, asked, began_s, limit_s)
                finally:
                    asked.cancel()
                await asyncio.sleep(AGAIN_S)
        finally:
            if self._waiting.get(match_id) is published:
                del self._waiting[match_id]

    def _is_silent(self, asked: asyncio.Future[Msg], took_s: float, limit_s: float, breaks: int) -> bool:
        """Whether no reply will come; False where it is worth to ask again. Raises NoLine."""
        error = asked.exception() if asked.done() else None
        if self._breaks != breaks or not (error is None or isinstance(error, TimeoutError | NoRespondersError)):
            raise NoLine("The connection to NATS broke while the bot was asked.") from error
        return not isinstance(error, NoRespondersError) or took_s >= min(NOBODY_S, limit_s)

    async def _connected(self) -> Client:
        self._connecting = self._connecting or asyncio.Lock()
        async with self._connecting:
            if self._client is None:
                self._client = await self._connect()
        until_s = time.monotonic() + CONNECT_S
        while not self._client.is_connected:
            if time.monotonic() > until_s:
                raise NoLine("NATS does not answer now.")
            await asyncio.sleep(AGAIN_S)
        return self._client

    async def _connect(self) -> Client:
        until_s = time.monotonic() + CONNECT_S
        while True:
            try:
                # without an end of its own it would try for ever at first, as it does later when it is lost
                client = await asyncio.wait_for(nats.connect(self._url, **self._options()), TRY_S)
                await client.subscribe(f"{ANSWERS}.*", cb=self._published)
                return client
            except (OSError, TimeoutError, NoServersError, Error) as error:
                if time.monotonic() > until_s:
                    raise NoLine(f"NATS does not answer ({type(error).__name__}).") from error
                await asyncio.sleep(AGAIN_S)

    def _options(self) -> dict[str, Any]:
        return {
            "name": "battlebot",
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.5,
            "ping_interval": 5,
            "max_outstanding_pings": 2,
            "error_cb": _noted,
            "disconnected_cb": self._broken,
        }

    async def _broken(self) -> None:
        self._breaks += 1
        log.warning("nats.disconnected")

    async def _published(self, message: Msg) -> None:
        """An answer that came without a reply subject: acknowledged whether anybody waits for it, or no more."""
        if message.reply:
            await message.respond(b"")
        waiting = self._waiting.get(message.subject.rpartition(".")[2])
        if waiting is not None:
            waiting.put(message.data)


def _without_reply(
    published: _Published, asked: asyncio.Future[Msg], began_s: float, limit_s: float
) -> tuple[bytes, float]:
    """What was published and may be the answer, and how long it took. Raises Silence where there is nothing."""
    if published.unsure is not None:
        data, came_s = published.unsure
        return data, came_s - began_s
    took_s = time.monotonic() - began_s
    if asked.done() and isinstance(asked.exception(), NoRespondersError):
        raise Silence("nobody", "Nobody listens to the bot's subject.", took_s, late=False)
    aside = "; what it published in that time was an earlier turn again" if published.repeats else ""
    raise Silence("timeout", f"The bot did not answer within {round(limit_s * 1000)} ms{aside}.", took_s, late=True)


async def _noted(error: Exception) -> None:
    log.debug("nats.error", error=str(error) or type(error).__name__)
