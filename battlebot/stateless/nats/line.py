"""Questions to bots over NATS, on an event loop in a thread of its own; any other thread may ask."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable

from nats.aio.msg import Msg
from nats.errors import Error, MaxPayloadError

from battlebot.stateless.clock import Clock
from battlebot.stateless.nats.acknowledger import ANSWERS, MOST, acknowledge
from battlebot.stateless.nats.client import NatsClient
from battlebot.stateless.nats.intake import Intake, Take
from battlebot.stateless.nats.link import NatsLink, why
from battlebot.stateless.nats.openquestion import Marking, OpenQuestion
from battlebot.stateless.nats.pulse import Pulse
from battlebot.stateless.nats.repeats import EventMark

READ_S = 2.0  # how long it may take to read what has come
NOBODY_S = 2.0  # how long a bot that is being restarted may take
BACK_S = 5.0  # how long bots may take to reconnect to a restarted NATS: their libraries try every two or three seconds
AGAIN_S = 0.1
NO_RESPONDERS = "503"  # what NATS itself replies if nobody listens


class NoLine(Exception):
    """NATS does not answer, or the connection to it broke: not the bot's fault."""


class NotPassedOn(NoLine):
    """NATS does not pass the question on, and will not as it is configured now: not the bot's fault either."""


class Silence(Exception):
    """The bot did not answer: it was `late`, or nobody listens to its subject."""

    def __init__(self, code: str, sentence: str, thinking_s: float, late: bool) -> None:
        super().__init__(sentence)
        self.code, self.thinking_s, self.late = code, thinking_s, late


class NatsLine:
    """The line to `url` (a NATS_URL), connected from `start`, or else from the first question on.

    `late_s()`: seconds by which this process has been late so far; neither they nor NATS's own silence are charged to
    a bot. Answers are cut off one byte after `most_bytes`.
    """

    def __init__(self, url: str, late_s: Callable[[], float] = lambda: 0.0, most_bytes: int = 65_536) -> None:
        self._late_s = late_s
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link = NatsLink(url, most_bytes, self._greet, self._broken, self._refused)
        # for messages of this process to itself: nobody else knows it
        self._inbox = _new_inbox()
        self._own = Intake(self._take_own)
        self._open: set[OpenQuestion] = set()
        self._pulse = Pulse(self._to_itself, self._heard, self._late_s)
        self._measuring: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connects, now and whenever NATS is there again; does not wait for it."""
        self._running_loop().call_soon_threadsafe(self._link.start)

    @property
    def is_away(self) -> bool:
        """Whether there is no connection now."""
        return not self._link.is_there

    def ask(
        self,
        subject: str,
        uid: str,
        request: bytes,
        limit_s: float,
        marking: Marking = lambda data: EventMark.ANSWER,
    ) -> tuple[bytes, float]:
        """Returns the answer and how many seconds the bot took; `marking` classifies what is published for the uid.

        Raises Silence, NoLine, NotPassedOn.
        """
        question = OpenQuestion(subject, Clock(limit_s, self._not_the_bots_s), marking)
        return asyncio.run_coroutine_threadsafe(self._asked(question, uid, request), self._running_loop()).result()

    def close(self) -> None:
        """Ends the connection for good; no question may be open."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._closed(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def _closed(self) -> None:
        if self._measuring is not None:
            await asyncio.wait({self._measuring})
        await self._link.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="nats", daemon=True).start()
            return self._loop

    async def _asked(self, question: OpenQuestion, uid: str, request: bytes) -> tuple[bytes, float]:
        try:
            client, acknowledger = await self._link.connected()
            published = Intake(_published_to(question, client), MOST)
            self._open.add(question)
            if self._measuring is None or self._measuring.done():
                self._measuring = asyncio.create_task(self._pulse.measure(lambda: bool(self._open)))
            try:
                await published.open(client, f"{ANSWERS}.{uid}")
                return await self._answered(client, question, request, published)
            finally:
                self._open.discard(question)
                await acknowledger.keep(uid, published)
        except (Error, OSError, TimeoutError) as error:
            raise NoLine(f"NATS does not answer ({why(error)}).") from error

    async def _answered(
        self, client: NatsClient, question: OpenQuestion, request: bytes, published: Intake
    ) -> tuple[bytes, float]:
        """Sends the question, again while nobody listens, until there is an answer or its time is over."""
        patience = Clock(min(NOBODY_S, question.clock.limit_s), self._not_the_bots_s)
        patience.start()
        question.clock.start()
        while True:
            replies = Intake(_replied_to(question), 1)
            try:
                answer = await self._sent(client, question, request, published, replies)
            finally:
                await replies.close()
            if answer is not None:
                return answer
            back = self._bots_are_back()
            if back and (question.rest_s() <= 0 or patience.left_s() <= 0):
                return self._best(question)
            await asyncio.sleep(AGAIN_S)
            if not back and question.unsure is None:
                # nobody has received it yet, because NATS was restarted
                question.clock.start()

    async def _sent(
        self, client: NatsClient, question: OpenQuestion, request: bytes, published: Intake, replies: Intake
    ) -> tuple[bytes, float] | None:
        """Sends the question once; returns its answer, or None if nobody listens."""
        question.nobody, inbox = False, _new_inbox()
        await replies.open(client, inbox)
        try:
            await client.publish(question.subject, request, reply=inbox)
        except MaxPayloadError as error:
            sentence = f"it has {len(request)} bytes; max_payload is {client.max_payload}"
            raise NotPassedOn(f"NATS does not pass the question on ({sentence}).") from error
        while not question.nobody:
            # the time may be over by the wall clock while NATS was silent, which is not charged to the bot
            if not await question.wait() or question.rest_s() <= 0 or client.is_closed:
                await self._read_all(client, published, replies)
            if question.answer is not None:
                return question.answer
            if question.refusal:
                raise NotPassedOn(f"NATS does not pass the question on ({question.refusal}).")
            if client.is_closed:
                raise NoLine("The connection to NATS broke while the bot was asked.")
            if question.rest_s() <= 0 and not question.nobody:
                return self._best(question)
        return None

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
        return self._link.since_s is not None and time.monotonic() - self._link.since_s >= BACK_S

    async def _read_all(self, client: NatsClient, *intakes: Intake) -> None:
        """Takes all that has come so far, even if this process was paused or busy. Raises TimeoutError."""
        async with asyncio.timeout(READ_S):
            if not client.is_closed:
                await self._pulse.echo()
            for intake in intakes:
                await intake.empty()

    def _not_the_bots_s(self) -> float:
        return self._late_s() + self._pulse.silent_s

    def _heard(self) -> int:
        return self._link.client.stats["in_msgs"] if self._link.client is not None else 0

    async def _to_itself(self, token: str) -> None:
        assert self._link.client is not None
        await self._link.client.publish(f"{self._inbox}.{token}")

    async def _greet(self, client: NatsClient, seconds: float) -> None:
        self._own = Intake(self._take_own)
        await self._own.open(client, f"{self._inbox}.*")
        # an upper bound: to connect takes more than one round trip
        self._pulse.took(seconds)
        self._pulse.lost()

    def _broken(self) -> None:
        self._pulse.lost()
        for question in self._open:
            question.wake()

    def _refused(self, sentence: str) -> None:
        for question in self._open:
            if f'Publish to "{question.subject}"' in sentence:
                question.refused(sentence)

    async def _take_own(self, message: Msg) -> None:
        self._pulse.came(message.subject.rpartition(".")[2])


def _new_inbox() -> str:
    """A random subject: whoever knew where a question is answered could answer it."""
    return f"_INBOX.{secrets.token_hex(16)}"


def _published_to(question: OpenQuestion, client: NatsClient) -> Take:
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
