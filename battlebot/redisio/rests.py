"""Work that takes long pauses for as long: else workers that take it first would have no time for anything else."""

from __future__ import annotations

import time
from collections.abc import Callable

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

LONG_S = 0.25  # two kinds of sweeps that take less, each once a second, leave time for what comes after them
LONGEST_S = 10.0


class Rests:
    """Pauses over all processes; `work` names a kind of work that is asked for again and again. Raises Unavailable."""

    def __init__(self, client: redis.Redis, now_s: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._now_s = now_s

    def between(self, work: str, do: Callable[[], object]) -> bool:
        """Calls `do()`, unless this work pauses; returns whether it did. Raises what it raises."""
        with redis_errors():
            if self._client.exists(keys.rests(work)):
                return False
        begun_s = self._now_s()
        try:
            do()
        finally:
            took_s = min(self._now_s() - begun_s, LONGEST_S)
            if took_s > LONG_S:
                with redis_errors():
                    self._client.set(keys.rests(work), "1", px=int(took_s * 1000))
        return True
