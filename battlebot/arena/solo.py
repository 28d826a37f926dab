"""Work that one process at a time does, and that is never forgotten: whoever finds it taken leaves a wish behind.

While the lock is held the wish is enough: a script that leaves one asks for no task (`wait.lua`). A lock here only
spares double work; what keeps double work harmless is where the work is committed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import redis

from battlebot.arena import keys
from battlebot.arena.connection import redis_errors
from battlebot.arena.scripts import Script, Scripts

RELEASE = Script("battlebot.arena", "solo.lua")
MAX_ROUNDS = 1000  # then the next sweep goes on, so that no task lives for ever


class Solo:
    """`work` names the work; `for_s` is how long a dead process keeps others from it."""

    def __init__(self, client: redis.Redis, work: str, for_s: float) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._asked = keys.asked(work)
        self._lock = keys.lock(work)
        self._for_ms = int(for_s * 1000)

    def run(self, work: Callable[[], int]) -> int:
        """Calls `work()` again and again, as long as it was asked for meanwhile; answers the sum of what it answered.

        If another process does it, its round after this moment sees what we came for: 0. Raises Unavailable.
        """
        done = 0
        for _ in range(MAX_ROUNDS):
            token = secrets.token_hex(8)
            with redis_errors():
                if not self._client.set(self._lock, token, nx=True, px=self._for_ms):
                    self._client.set(self._asked, "1", px=2000)
                    return done
                self._client.delete(self._asked)
            try:
                done += work()
            finally:
                self._scripts.run(RELEASE, [self._lock], [token])
            with redis_errors():
                if not self._client.exists(self._asked):
                    return done
        return done
