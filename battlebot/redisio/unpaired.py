"""Contests whose pairing failed lately, by the names of their queues: workers note them for operators."""

from __future__ import annotations

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts, time_s


class Unpaired:
    """Both methods raise Unavailable when Redis does not answer."""

    KEPT_S = 60.0  # while bots wait, the sweep asks for a pairing every second; where tasks wait, less often

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, queue: str) -> None:
        """Notes that the pairing of a contest failed now."""
        now_ms = time_s(self._client) * 1000
        with redis_errors():
            self._client.zadd(keys.UNPAIRED, {queue: now_ms})
            self._client.zremrangebyscore(keys.UNPAIRED, "-inf", now_ms - self.KEPT_S * 1000)

    def queues(self) -> list[str]:
        """Returns the queues of the contests whose pairing failed within the last `KEPT_S`."""
        since_ms = (time_s(self._client) - self.KEPT_S) * 1000
        with redis_errors():
            return sorted(texts(self._client.zrangebyscore(keys.UNPAIRED, since_ms, "+inf")))
