"""Bots behind HTTP (Battle-cubed): a question is one POST, its answer the body of a 200. Redirects are not followed."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar

import orjson
import structlog

from battlebot.errors import BadAddress, BadMessage
from battlebot.runtime.acknowledging import acknowledge
from battlebot.stateless.asking import Failure, Question, Reply
from battlebot.stateless.clock import Clock
from battlebot.stateless.http.connections import Connections
from battlebot.stateless.http.guard import Guard, forbidden
from battlebot.stateless.http.location import Location, location_of
from battlebot.stateless.http.notconnected import NotConnected
from battlebot.stateless.http.response import Response
from battlebot.stateless.http.tls import Connection
from battlebot.stateless.http.waiting import Waiting, persist
from battlebot.wire.jsontext import decode_value

log = structlog.get_logger()

AT_ONCE = 65_536  # bytes per read
CLOSE = "Connection: close\r\n"
GIVEN_UP = 408  # also sent when an idle connection is closed, which our question may have crossed: RFC 9110, 15.5.9
LAST_READS = 64  # reads after the limit, for data that may have arrived in time; no answer needs more


class HttpBots:
    """Addresses with `http://` or `https://`. `late_s()`: seconds by which this process has been late so far.

    `keeps`: whether connections are kept for the next question. A process that asks a bot only once keeps none: at a
    bot that serves one connection at a time, it would block the processes that ask the bot in its matches.
    """

    SCHEMES: ClassVar[Sequence[str]] = ("http", "https")

    def __init__(
        self,
        guard: Guard,
        most_bytes: int,
        max_nesting: int,
        late_s: Callable[[], float] = lambda: 0.0,
        keeps: bool = True,
    ) -> None:
        self.connections = Connections(guard, late_s)
        self._guard = guard
        self._most_bytes = most_bytes
        self._max_nesting = max_nesting
        self._late_s = late_s
        self._keeps = keeps

    def check(self, address: str) -> None:
        """Raises BadAddress for a malformed address or a forbidden IP address; names are resolved only when asked."""
        location = location_of(address)
        with suppress(ValueError):
            if not self._guard.permits(ipaddress.ip_address(location.host)):
                raise forbidden(location.host)

    def ask(self, question: Question) -> Reply:
        """Sends one POST; if a kept connection turns out to be closed, one more over a new one, in the same time."""
        try:
            location = location_of(question.address)
        except BadAddress as error:
            return Reply(failure=Failure(error.code, str(error)))
        body = orjson.dumps(question.content)
        self.connections.enter(location, question.rated)
        try:
            return self._asked(question, location, _request(location, body, self._keeps))
        except NotConnected as error:
            return Reply(failure=Failure(error.code, str(error), ours=error.ours))
        except Exception as error:
            log.exception("bot.asking_failed", bot=question.bot, match=question.match_id)
            sentence = f"The server failed while it asked ({type(error).__name__})."
            return Reply(failure=Failure("server", sentence, ours=True))
        finally:
            self.connections.leave(location, question.rated)

    def start(self) -> None:
        """Does nothing: connections are made for questions."""

    def is_away(self) -> bool:
        """Returns False: nothing stands between the server and the bots."""
        return False

    def tidy(self) -> None:
        """Closes connections that have been kept long enough."""
        self.connections.tidy()

    def _asked(self, question: Question, location: Location, request: bytes) -> Reply:
        clock = None
        kept = self.connections.idle(location)
        if kept is not None:
            # the clock runs on if the bot hangs up: it may have read the question and begun to think
            clock = self._started(question)
            reply = self._over(kept, question, location, request, clock)
            if reply is not None:
                return reply
        waiting = Waiting(self.connections)
        try:
            connection = self.connections.new(location, waiting, question.rated)
            reply = self._over(connection, question, location, request, clock or self._started(question), waiting)
        finally:
            waiting.over()
        assert reply is not None
        return reply

    def _over(
        self,
        connection: Connection,
        question: Question,
        location: Location,
        request: bytes,
        clock: Clock,
        waiting: Waiting | None = None,
    ) -> Reply | None:
        """Returns the reply over this connection; None if it was a kept one that the bot closed: no byte came, or 408.

        `waiting`: given for a new connection. The clock bounds both sending the question and reading the answer.
        """
        response, keep = Response(self._most_bytes), False
        try:
            try:
                _send(connection, request, clock)
                _read(connection, response, clock, waiting)
            except TimeoutError:
                sentence = f"The bot did not answer within {round(question.limit_s * 1000)} ms."
                failure = Failure("timeout", sentence, late=True, public=sentence)
                return Reply(failure=failure, thinking_s=clock.thinking_s())
            except OSError as error:
                response.broke(error.strerror or str(error))
            if waiting is None and (not response.began or response.status == GIVEN_UP):
                return None
            keep = self._keeps and response.reusable
            # data read after the limit was already there: nothing shows that it came too late
            return self._judged(response, min(clock.thinking_s(), question.limit_s))
        finally:
            response.close()
            if keep:
                self.connections.keep(location, connection)
            else:
                connection.close()

    def _started(self, question: Question) -> Clock:
        clock = Clock(question.limit_s, self._late_s)
        clock.start()
        return clock

    def _judged(self, response: Response, thinking_s: float) -> Reply:
        failure = _failure_of(response)
        if failure is not None:
            return Reply(failure=failure, thinking_s=thinking_s)
        try:
            return Reply(decode_value(response.body, self._max_nesting), thinking_s=thinking_s)
        except BadMessage as error:
            return Reply(failure=Failure("bad-json", f"The answer's body is refused: {error}"), thinking_s=thinking_s)


def _send(connection: Connection, request: bytes, clock: Clock) -> None:
    """Sends the request. Raises TimeoutError at the limit; sends nothing if the bot has already used up its time."""
    if clock.left_s() <= 0:
        raise TimeoutError
    rest = memoryview(request)
    while rest:
        rest = rest[persist(connection, clock, partial(connection.send, rest)) :]


def _read(connection: Connection, response: Response, clock: Clock, waiting: Waiting | None) -> None:
    """Reads until the answer is complete or never will be. Raises TimeoutError at the limit, even while data comes."""
    reads_left = LAST_READS
    while not response.done and response.problem is None:
        if clock.left_s() <= 0:
            if not reads_left:
                raise TimeoutError
            reads_left -= 1
        data = persist(connection, clock, partial(connection.recv, AT_ONCE), waiting)
        if waiting is not None:
            waiting.over()
            waiting = None
        began_s = time.thread_time()
        response.feed(data)
        clock.worked(time.thread_time() - began_s)
        if not data:
            return
        if not response.done:
            acknowledge(connection)
        # while data is there, reading never waits, and no other greenlet would run
        time.sleep(0)


def _failure_of(response: Response) -> Failure | None:
    if response.problem is not None:
        return Failure(*response.problem)
    if 300 <= response.status < 400:
        return Failure("redirect", f"The answer's status is {response.status}: redirects are not followed.")
    if response.status != 200:
        return Failure("bad-status", f"The answer's status is {response.status}, not 200.")
    return None


def _request(location: Location, body: bytes, keeps: bool) -> bytes:
    head = (
        f"POST {location.target} HTTP/1.1\r\nHost: {location.name}\r\nUser-Agent: battlebot\r\n"
        f"Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"{'' if keeps else CLOSE}\r\n"
    )
    return head.encode("ascii") + body
