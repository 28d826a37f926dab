"""An open question on NATS: the messages received for it, and how long to wait for more. No connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from battlebot.stateless.clock import Clock
from battlebot.stateless.nats.repeats import EventMark

UNSURE_S = 1.0  # how long to wait for something better than a possible repeat of an earlier turn

Marking = Callable[[bytes], EventMark]
Came = tuple[bytes, float]


class OpenQuestion:
    """A question at `subject`. `answer`: the answer, with the seconds that the bot took.

    `unsure`: likewise, what may be the answer. `nobody`: nobody listened when the question was last sent. `refusal`:
    why NATS did not pass it on. `repeats`: how many messages were earlier answers.
    """

    def __init__(self, subject: str, clock: Clock, marking: Marking) -> None:
        self.subject = subject
        self.clock = clock
        self.answer: Came | None = None
        self.unsure: Came | None = None
        self.nobody = False
        self.refusal = ""
        self.repeats = 0
        self._marking = marking
        self._doubtful = False
        self._news = asyncio.Event()

    def replied(self, data: bytes) -> None:
        """Takes a message at the reply subject: the first is the answer."""
        self._settle((data, self.clock.thinking_s()))

    def published(self, data: bytes) -> None:
        """Takes a published message, which may belong to an earlier question."""
        if self.answer is not None:
            return
        came = (data, self.clock.thinking_s())
        mark = self._marking(data)
        if mark is EventMark.ANSWER:
            self._settle(came)
        elif mark is EventMark.REPEAT:
            self.repeats += 1
        elif self.unsure is None or (self._doubtful and mark is EventMark.UNSURE):
            self.unsure, self._doubtful = came, mark is EventMark.DOUBTFUL
            self._news.set()

    def unheard(self) -> None:
        """Notes that nobody listens to the bot's subject."""
        self.nobody = True
        self._news.set()

    def refused(self, sentence: str) -> None:
        """Notes why NATS did not pass the question on."""
        self.refusal = sentence
        self._news.set()

    def wake(self) -> None:
        """Ends `wait` though no message has come: the connection is lost."""
        self._news.set()

    def rest_s(self) -> float:
        """Seconds to wait for more; 0 or less if only what is already there, unread, can still count."""
        left_s = self.clock.left_s()
        if self.unsure is None:
            return left_s
        return min(left_s, self.unsure[1] + UNSURE_S - self.clock.thinking_s())

    async def wait(self) -> bool:
        """Waits until there is news or `rest_s` is over; returns whether there is news."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), max(0.0, self.rest_s()))
        came = self._news.is_set()
        self._news.clear()
        return came

    def _settle(self, came: Came) -> None:
        if self.answer is None:
            self.answer = came
            self._news.set()
