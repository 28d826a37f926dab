"""A subscription on NATS that brings no more than so many messages, however many are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

log = structlog.get_logger()

EMPTYING_S = 0.001

Take = Callable[[Msg], Awaitable[None]]


def note(error: Exception) -> None:
    """Logs an error of NATS's, or of the way there, which will be tried again."""
    log.debug("nats.error", error=str(error) or type(error).__name__)


class Inlet:
    """Its messages go to `take`, one after the other, which does what matters before it waits for anything.

    nats-server itself ends the subscription after `most` messages, if that is not 0. It is read without nats-py's
    callbacks: those lose what else lies there when the last message has come.
    """

    def __init__(self, take: Take, most: int = 0) -> None:
        self.take = take
        self._most = most
        self._taken = 0
        self._subscription: Subscription | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self, client: Client, subject: str) -> None:
        """Subscribes: what is published after the client's next message comes here. Raises nats' Error."""
        # of any size: where `most` is not 0 they are few
        subscription = await client.subscribe(subject, max_msgs=self._most, pending_bytes_limit=0)
        self._subscription = subscription
        self._reading = asyncio.create_task(self._read(subscription))
        if self._most:
            await subscription.unsubscribe(self._most)

    async def end_after(self, more: int) -> None:
        """From now on no more than so many messages come, or fewer where `most` are reached. Raises nats' Error."""
        if self._subscription is None or 0 < self._most <= self._subscription.delivered + more:
            return
        self._most = self._subscription.delivered + more
        await self._subscription.unsubscribe(self._most)

    @property
    def is_open(self) -> bool:
        """It has been opened, and perhaps ended since."""
        return self._reading is not None

    async def empty(self) -> None:
        """Returns when all that this process has read by now is taken."""
        until = self._subscription.delivered if self._subscription is not None else 0
        while self._taken < until:
            await asyncio.sleep(EMPTYING_S)

    async def full(self, seconds: float) -> None:
        """Returns when nothing comes here any more (`most` messages have, or the connection is closed), or then."""
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=seconds)

    async def close(self) -> None:
        """Nothing comes here any more. Called before `open`, again, or on a lost connection, it does nothing else."""
        if self._subscription is None or self._reading is None:
            return
        self._reading.cancel()
        # also when it is full: what nats-server says itself (503) is none of the messages that it counts
        with suppress(Error):
            await self._subscription.unsubscribe()

    async def _read(self, subscription: Subscription) -> None:
        while not self._most or self._taken < self._most:
            try:
                message = await subscription.next_msg(timeout=None)
            except Error:
                return
            self._taken += 1
            try:
                await self.take(message)
            except Error as error:
                note(error)
            except Exception:
                log.exception("nats.failed")
