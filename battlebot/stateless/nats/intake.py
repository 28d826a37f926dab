"""A NATS subscription that delivers a limited number of messages, however many are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

from battlebot.stateless.nats.client import NatsClient, next_message

log = structlog.get_logger()

EMPTYING_S = 0.001

Take = Callable[[Msg], Awaitable[None]]


def note(error: Exception) -> None:
    """Logs an error of NATS or of the connection to it; what failed will be tried again."""
    log.debug("nats.error", error=str(error) or type(error).__name__)


class Intake:
    """Passes messages to `take`, one after the other; `take` must do what matters before it waits for anything.

    nats-server itself ends the subscription after `most` messages; 0: no limit. The intake does not use nats-py's
    callbacks, which lose queued messages when the last one has come.
    """

    def __init__(self, take: Take, most: int = 0) -> None:
        self.take = take
        self._most = most
        self._taken = 0
        self._subscription: Subscription | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self, client: NatsClient, subject: str) -> None:
        """Subscribes; receives everything published after the client's next message. Raises nats' Error."""
        # bytes without limit: if `most` is not 0, messages are few
        subscription = await client.subscribe(subject, max_msgs=self._most, pending_bytes_limit=0)
        self._subscription = subscription
        self._reading = asyncio.create_task(self._read(subscription))
        if self._most:
            await subscription.unsubscribe(self._most)

    async def end_after(self, more: int) -> None:
        """Allows `more` further messages, or fewer if `most` is reached first. Raises nats' Error."""
        if self._subscription is None or 0 < self._most <= self._subscription.delivered + more:
            return
        self._most = self._subscription.delivered + more
        await self._subscription.unsubscribe(self._most)

    @property
    def is_open(self) -> bool:
        """Whether it has been opened; it may have ended since."""
        return self._reading is not None

    async def empty(self) -> None:
        """Returns when all messages that this process has read so far are taken."""
        until = self._subscription.delivered if self._subscription is not None else 0
        while self._taken < until:
            await asyncio.sleep(EMPTYING_S)

    async def full(self, seconds: float) -> None:
        """Returns when no more can come (`most` messages have, or the connection is closed), or after `seconds`."""
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=seconds)

    async def close(self) -> None:
        """Ends the subscription. May be called before `open`, again, or on a lost connection."""
        if self._subscription is None or self._reading is None:
            return
        self._reading.cancel()
        # also when it is full: nats-server does not count its own messages (503)
        with suppress(Error):
            await self._subscription.unsubscribe()

    async def _read(self, subscription: Subscription) -> None:
        while not self._most or self._taken < self._most:
            message = await next_message(subscription)
            if message is None:
                return
            self._taken += 1
            try:
                await self.take(message)
            except Error as error:
                note(error)
            except Exception:
                log.exception("nats.failed")
