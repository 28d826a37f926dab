"""The Redis lists in which Celery's tasks wait: how many, and the oldest. Read-only; Celery writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import redis

from battlebot.redisio.connection import redis_errors


class TaskLists:
    """One list per priority; 0 is taken first. Every method raises Unavailable."""

    PREFIX = "bb:celery:"
    QUEUE = "battlebot"
    BOTS = "bots"  # tasks that ask stateless bots: its workers have greenlets
    ASKING_S = 60.0  # how long a task that asks bots waits for a worker before it expires
    PRIORITIES = (0, 3, 6, 9)
    SENT = "sent_s"  # a task's header: when it was sent, epoch
    SEPARATOR = "\x06\x16"  # kombu's, between a queue's name and a priority that is not 0

    def __init__(self, client: redis.Redis, queue: str = QUEUE) -> None:
        self._client = client
        self.queue = queue

    def key(self, priority: int) -> str:
        """Returns the list's key."""
        return f"{self.PREFIX}{self.queue}" + (f"{self.SEPARATOR}{priority}" if priority else "")

    def length(self, priority: int) -> int:
        """Returns how many tasks of a priority wait, including expired ones."""
        with redis_errors():
            return int(self._client.llen(self.key(priority)))

    def lengths(self) -> dict[int, int]:
        """Returns priority -> how many tasks wait."""
        return {priority: self.length(priority) for priority in self.PRIORITIES}

    def oldest_s(self, priorities: Sequence[int] = PRIORITIES) -> float | None:
        """Returns when (epoch) the longest waiting task of these was sent; None if no waiting task says so."""
        with redis_errors():
            last: list[Any] = [self._client.lindex(self.key(priority), -1) for priority in priorities]
        sent = [orjson.loads(message)["headers"].get(self.SENT) for message in last if message is not None]
        return min((moment for moment in sent if moment is not None), default=None)
