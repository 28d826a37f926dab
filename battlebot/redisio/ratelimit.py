"""Rate limits per address and minute, counted in Redis across all nodes."""

from __future__ import annotations

from collections.abc import Callable

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

WINDOW_S = 60


class RateLimit:
    """Allows an address `most` uses in each minute of the clock. `of` names what is counted."""

    def __init__(self, client: redis.Redis, of: str, most: int, now_s: Callable[[], float]) -> None:
        self._client = client
        self._of = of
        self._most = most
        self._now_s = now_s

    def take(self, address: str) -> bool:
        """Counts one more use; returns whether it is within the limit. Raises Unavailable."""
        key = keys.rate_limit(self._of, address, int(self._now_s() // WINDOW_S))
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.incr(key)
            pipeline.expire(key, 2 * WINDOW_S)
            taken, _ = pipeline.execute()
        return int(taken) <= self._most
