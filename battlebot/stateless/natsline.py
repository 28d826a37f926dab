"""This process's connection to NATS, on an event loop in a thread of its own; any other thread may ask over it."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import structlog
from nats.aio.msg import Msg
from nats.errors import Error, NoServersError

from battlebot.config import nats_login
from battlebot.stateless.acknowledger import ANSWERS, MOST, Acknowledger, acknowledge
from battlebot.stateless.clock import Clock
from battlebot.stateless.inlet import Inlet, Take, note
from battlebot.stateless.natsclient import LineClient
from battlebot.stateless.openquestion import Marking, OpenQuestion
from battlebot.stateless.pulse import Pulse
from battlebot.stateless.repeats import Mark

log = structlog.get_logger()

TRY_S = 2.0
CONNECT_S = 5.0  # how long a NATS that is being restarted may take
NOBODY_S = 2.0  # how long a bot that is being restarted may take
BACK_S = 5.0  # how long bots may take to reconnect to a restarted NATS: their libraries try every two or three seconds
AGAIN_S = 0.1
NO_RESPONDERS = "503"  # what NATS itself replies if nobody listens


class NoLine(Exception):
    """NATS does not answer, or the connection to it broke: not the bot's fault."""


class Silence(Exception):
    """The bot did not answer: it was `late`, or nobody listens to its subject."""

    def __init__(self, code: str, sentence: str, thinking_s: float, late: bool) -> None:
        super().__init__(sentence)
        self.code, self.thinking_s, self.late = code, thinking_s, late


class NatsLine:
    """The connection to `url` (a NATS_URL), made at the first question.

    `late_s()`: seconds by which this process has been late so far; neither they nor NATS's own silence are charged to
    a bot. Answers are cut off one byte after `most_bytes`.
    """

    def __init__(self, url: str, late_s: Callable[[], float] = lambda: 0.0, most_bytes: int = 65_536) -> None:
        self._login = nats_login(url)
        self._late_s = late_s
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: LineClient | None = None
        self._connecting: asyncio.Lock | None = None
        self._acknowledger: Acknowledger | None = None
        # for messages of this process to itself: nobody else knows it
        self._inbox = _new_inbox()
        self._own: Inlet | None = None
        self._open = 0
        self._breaks = 0
        self._mended_s: float | None = None
        self._pulse = Pulse(self._to_itself, self._heard, self._late_s)
        self._measuring: asyncio.Task[None] | None = None

    def ask(
        self,
        subject: str,
        uid: str,
        request: bytes,
        limit_s: float,
        marking: Marking = lambda data: Mark.ANSWER,
    ) -> tuple[bytes, float]:
        """Returns the answer and how many seconds the bot took; `marking` classifies what is published for the uid.

        Raises Silence, NoLine.
        """
        return asyncio.run_coroutine_threadsafe(
            self._asked(subject, uid, request, limit_s, marking), self._running_loop()
        ).result()

    def close(self) -> None:
        """Ends the connection for good; no question may be open."""
        loop, client = self._loop, self._client
        if loop is not None and client is not None:
            # if NATS is gone, this cancels the attempts to reconnect, and sometimes the closing itself with them
            with suppress(CancelledError):
                asyncio.run_coroutine_threadsafe(self._closed(client), loop).result()
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    async def _closed(self, client: LineClient) -> None:
        if self._measuring is not None:
            await asyncio.wait({self._measuring})
        if self._acknowledger is not None:
            self._acknowledger.stop()
        await client.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="nats", daemon=True).start()
            return self._loop

    async def _asked(
        self, subject: str, uid: str, request: bytes, limit_s: float, marking: Marking
    ) -> tuple[bytes, float]:
        client, acknowledger = await self._connected()
        breaks = self._breaks
        question = OpenQuestion(Clock(limit_s, self._not_the_bots_s), marking)
        published, replies = Inlet(_published_to(question, client), MOST), Inlet(_replied_to(question), 1)
        self._open += 1
        if self._measuring is None or self._measuring.done():
            self._measuring = asyncio.create_task(self._pulse.measure(lambda: self._open > 0))
        patience = Clock(min(NOBODY_S, limit_s), self._not_the_bots_s)
        try:
            await published.open(client, f"{ANSWERS}.{uid}")
            patience.start()
            question.clock.start()
            while True:
                question.nobody, inbox = False, _new_inbox()
                await replies.close()
                replies = Inlet(_replied_to(question), 1)
                await replies.open(client, inbox)
                await client.publish(subject, request, reply=inbox)
                while not question.nobody:
                    # the time may be over by the wall clock while NATS was silent, which is not charged to the bot
                    if not await question.wait() or question.rest_s() <= 0:
                        await self._read_all(published, replies)
                    if question.answer is not None:
                        return question.answer
                    if self._breaks != breaks:
                        raise NoLine("The connection to NATS broke while the bot was asked.")
                    if question.rest_s() <= 0 and not question.nobody:
                        return self._best(question)
                back = self._bots_are_back()
                if back and (question.rest_s() <= 0 or patience.left_s() <= 0):
                    return self._best(question)
                await asyncio.sleep(AGAIN_S)
                if not back and question.unsure is None:
                    # nobody has received it yet, because NATS was restarted
                    question.clock.start()
        except (Error, OSError, TimeoutError) as error:
            raise NoLine(f"NATS does not answer ({_why(error)}).") from error
        finally:
            self._open -= 1
            await replies.close()
            await acknowledger.keep(uid, published)

    def _best(self, question: OpenQuestion) -> tuple[bytes, float]:
        """Returns a published message that may be the answer, and how long it took. Raises Silence if there is none."""
        if question.unsure is not None:
            return question.unsure
        thinking_s = question.clock.thinking_s()
        if question.nobody:
            raise Silence("nobody", "Nobody listens to the bot's subject.", thinking_s, late=False)
        sentence = f"The bot did not answer within {round(question.clock.limit_s * 1000)} ms"
        if question.repeats:
            sentence += "; what it published in that time was an earlier turn again, or of another rack"
        raise Silence("timeout", f"{sentence}.", thinking_s, late=True)

    def _bots_are_back(self) -> bool:
        """Whether bots have had time to reconnect since this process did: NATS may have been away until then."""
        return self._mended_s is not None and time.monotonic() - self._mended_s >= BACK_S

    async def _read_all(self, *inlets: Inlet) -> None:
        """Takes all that has come so far, even if this process was paused or busy. Raises TimeoutError."""
        async with asyncio.timeout(TRY_S):
            await self._pulse.echo()
            for inlet in inlets:
                await inlet.empty()

    def _not_the_bots_s(self) -> float:
        return self._late_s() + self._pulse.silent_s

    def _heard(self) -> int:
        return self._client.stats["in_msgs"] if self._client is not None else 0

    async def _to_itself(self, token: str) -> None:
        assert self._client is not None
        await self._client.publish(f"{self._inbox}.{token}")

    async def _connected(self) -> tuple[LineClient, Acknowledger]:
        self._connecting = self._connecting or asyncio.Lock()
        async with self._connecting:
            # some errors end a connection of nats-py for good
            if self._client is None or self._acknowledger is None or self._client.is_closed:
                self._client = await self._connect()
                self._acknowledger = Acknowledger(self._client)
            connected = self._client, self._acknowledger
        until_s = time.monotonic() + CONNECT_S
        while not connected[0].is_connected:
            if time.monotonic() > until_s:
                raise NoLine("NATS does not answer now.")
            await asyncio.sleep(AGAIN_S)
        return connected

    async def _connect(self) -> LineClient:
        until_s = time.monotonic() + CONNECT_S
        while True:
            try:
                began_s = time.monotonic()
                client = await self._tried()
                self._own = Inlet(self._take_own)
                try:
                    await self._own.open(client, f"{self._inbox}.*")
                except Error:
                    await client.close()
                    raise
                self._mended_s = time.monotonic()
                # an upper bound: to connect takes more than one round trip
                self._pulse.took(self._mended_s - began_s)
                return client
            except (OSError, TimeoutError, NoServersError, Error) as error:
                if time.monotonic() > until_s:
                    raise NoLine(f"NATS does not answer ({_why(error)}).") from error
                await asyncio.sleep(AGAIN_S)

    async def _tried(self) -> LineClient:
        """Connects within `TRY_S`: nats-py itself would try for ever, as it does later when the connection is lost."""
        client = LineClient(self._most_bytes)
        trying = asyncio.ensure_future(client.connect(self._login.server, **self._options()))
        await asyncio.wait({trying}, timeout=TRY_S)
        while not trying.done():
            # once is not enough: before Python 3.12 a cancellation is lost if an attempt fails at the same moment
            trying.cancel()
            await asyncio.wait({trying}, timeout=AGAIN_S)
        if trying.cancelled() or trying.exception() is not None:
            # a client that has not begun to connect raises AssertionError
            with suppress(AssertionError, OSError, Error):
                await client.close()
        if trying.cancelled():
            raise client.last_error or TimeoutError()
        trying.result()
        return client

    def _options(self) -> dict[str, Any]:
        return {
            **self._login.credentials,
            "name": "battlebot",
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.5,
            "ping_interval": 5,
            "max_outstanding_pings": 2,
            "error_cb": _noted,
            "disconnected_cb": self._broken,
            "reconnected_cb": self._mended,
        }

    async def _broken(self) -> None:
        self._breaks += 1
        self._pulse.lost()
        log.warning("nats.disconnected")

    async def _mended(self) -> None:
        self._mended_s = time.monotonic()
        self._pulse.lost()

    async def _take_own(self, message: Msg) -> None:
        self._pulse.came(message.subject.rpartition(".")[2])


def _new_inbox() -> str:
    """A random subject: whoever knew where a question is answered could answer it."""
    return f"_INBOX.{secrets.token_hex(16)}"


def _published_to(question: OpenQuestion, client: LineClient) -> Take:
    async def take(message: Msg) -> None:
        question.published(message.data)
        await acknowledge(client, message)

    return take


def _replied_to(question: OpenQuestion) -> Take:
    async def take(message: Msg) -> None:
        if message.headers is not None and message.headers.get("Status") == NO_RESPONDERS:
            question.unheard()
        else:
            question.replied(message.data)

    return take


def _why(error: Exception) -> str:
    """NATS's own words, which an operator needs; for a system error, which would name addresses, only its class."""
    said = str(error).removeprefix("nats: ").strip("'") if isinstance(error, Error) else ""
    return said or type(error).__name__


async def _noted(error: Exception) -> None:
    note(error)
