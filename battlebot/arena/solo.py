"""Work that one process at a time does, and that is never forgotten: whoever finds it taken leaves a wish behind.

While the lock is held the wish is enough: a script that leaves one asks for no task (`wait.lua`). A lock here only
spares double work; what keeps double work harmless is where the work is committed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import redis

from battlebot.arena import keys
from battlebot.arena.scripts import Script, Scripts

TAKE = Script("battlebot.arena", "solotake.lua")
RELEASE = Script("battlebot.arena", "solo.lua")
WISH_MS = 2000
MAX_ROUNDS = 1000  # then the next sweep goes on, so that no task lives for ever


class Solo:
    """`work` names the work; `for_s` is how long a dead process keeps others from it."""

    def __init__(self, client: redis.Redis, work: str, for_s: float) -> None:
        self._scripts = Scripts(client)
        self._keys = [keys.lock(work), keys.asked(work)]
        self._for_ms = int(for_s * 1000)

    def run(self, work: Callable[[], int]) -> int:
        """Calls `work()` again and again, as long as it was asked for meanwhile; answers the sum of what it answered.

        If another process does it, its round after this moment sees what we came for: 0. Raises Unavailable.
        """
        done = 0
        for _ in range(MAX_ROUNDS):
            token = secrets.token_hex(8)
            if not self._scripts.run(TAKE, self._keys, [token, self._for_ms, WISH_MS]):
                return done
            asked = 0
            try:
                done += work()
            finally:
                asked = self._scripts.run(RELEASE, self._keys, [token])
            if not asked:
                return done
        return done
