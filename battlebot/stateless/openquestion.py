"""A question that is open on NATS: what came for it, and how long is waited for more. No connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from battlebot.stateless.clock import Clock
from battlebot.stateless.repeats import Mark

UNSURE_S = 1.0  # for so long something better than what may be a repeat of an earlier turn is waited for

Marking = Callable[[bytes], Mark]
Came = tuple[bytes, float]


class OpenQuestion:
    """`answer` is what came as the answer, with the seconds that the bot took; `unsure` what may be it.

    `nobody`: nobody listened when it was asked last. `repeats`: how much of what came was an earlier answer.
    """

    def __init__(self, clock: Clock, marking: Marking) -> None:
        self.clock = clock
        self.answer: Came | None = None
        self.unsure: Came | None = None
        self.nobody = False
        self.repeats = 0
        self._marking = marking
        self._doubtful = False
        self._news = asyncio.Event()

    def replied(self, data: bytes) -> None:
        """Takes what came at the reply subject: the first is the answer."""
        self._settle((data, self.clock.thinking_s()))

    def published(self, data: bytes) -> None:
        """Takes what came without a reply subject, and may belong to an earlier question."""
        if self.answer is not None:
            return
        came = (data, self.clock.thinking_s())
        mark = self._marking(data)
        if mark is Mark.ANSWER:
            self._settle(came)
        elif mark is Mark.REPEAT:
            self.repeats += 1
        elif self.unsure is None or (self._doubtful and mark is Mark.UNSURE):
            self.unsure, self._doubtful = came, mark is Mark.DOUBTFUL
            self._news.set()

    def unheard(self) -> None:
        """Nobody listens to the bot's subject."""
        self.nobody = True
        self._news.set()

    def rest_s(self) -> float:
        """How long is waited for more; nothing or less where what lies there unread is all that can count."""
        left_s = self.clock.left_s()
        if self.unsure is None:
            return left_s
        return min(left_s, self.unsure[1] + UNSURE_S - self.clock.thinking_s())

    async def wait(self) -> bool:
        """Until something came, or the rest is over; whether something came."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), max(0.0, self.rest_s()))
        came = self._news.is_set()
        self._news.clear()
        return came

    def _settle(self, came: Came) -> None:
        if self.answer is None:
            self.answer = came
            self._news.set()
