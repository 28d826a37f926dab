"""The addresses of stateless bots in Redis: in how many matches they are asked there, and where places are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import of_each, redis_errors

KEPT_S = 60  # how long `keep` holds unless it is called again


class Addresses:
    """What is known of addresses besides whose they are. Every method raises Unavailable when Redis does not answer."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def busy(self, addresses: Iterable[str]) -> dict[str, int]:
        """Returns address -> in how many live rated matches a stateless bot is asked there."""
        addresses = sorted(set(addresses))
        counts = of_each(self._client, addresses, lambda pipeline, one: pipeline.scard(keys.asked_at(one)))
        return dict(zip(addresses, counts, strict=True))

    def keep(self, addresses: Collection[str]) -> None:
        """Notes at which addresses places are kept for contests, at no others, for `KEPT_S`."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.delete(keys.KEPT)
            if addresses:
                pipeline.sadd(keys.KEPT, *addresses)
                pipeline.expire(keys.KEPT, KEPT_S)
            pipeline.execute()

    def kept(self, addresses: Iterable[str]) -> set[str]:
        """Returns at which of these addresses places are kept for contests."""
        addresses = sorted(set(addresses))
        if not addresses:
            return set()
        with redis_errors():
            answers: Any = self._client.smismember(keys.KEPT, addresses)
        return {address for address, is_kept in zip(addresses, answers, strict=True) if is_kept}
