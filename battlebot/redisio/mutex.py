"""Work that one process does at a time: a process that finds it taken leaves a request, and another round follows.

While the lock is held, the request is enough: `wait.lua` then leaves one and asks for no task. It is forgotten only if
the process at work dies, or Redis or MongoDB is away: whatever is done this way is also asked for by a sweep. The lock
only saves double work; where the work is committed, double work is made harmless.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

import redis
import structlog

from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.scripts import Script, Scripts

log = structlog.get_logger()

TAKE = Script("battlebot.redisio", "mutextake.lua")
RENEW = Script("battlebot.redisio", "mutexrenew.lua")
RELEASE = Script("battlebot.redisio", "mutexrelease.lua")
LOCK_MS = 6000  # how long a dead process keeps others from its work
RENEW_EVERY_S = 1.5
ROUNDS_S = 20.0  # then no other round begins, and the next sweep goes on: a task that ran for long would be killed


class Locks:
    """The locks of one process, renewed by a thread for as long as the work lasts, with the requests for the work."""

    def __init__(self, client: redis.Redis) -> None:
        self.scripts = Scripts(client)
        self._held: dict[str, tuple[str, str]] = {}
        self._guard = threading.Lock()
        self._keeper: threading.Thread | None = None

    @contextmanager
    def kept(self, lock: str, asked: str, token: str) -> Iterator[None]:
        """Keeps the lock, taken with that token, and the request from expiring within the `with` block."""
        with self._guard:
            self._held[token] = lock, asked
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="locks", daemon=True)
                self._keeper.start()
        try:
            yield
        finally:
            with self._guard:
                del self._held[token]

    def _keep(self) -> None:
        while True:
            time.sleep(RENEW_EVERY_S)
            with self._guard:
                held = dict(self._held)
            try:
                if held:
                    self.scripts.run(RENEW, [*chain.from_iterable(held.values())], [LOCK_MS, *held])
            except Unavailable as error:
                locks = sorted(lock for lock, _ in held.values())
                log.warning("locks.not_renewed", locks=locks, error=str(error))
            except Exception:
                log.exception("locks.failed")


class Mutex:
    """Runs the work named `work` in one process at a time."""

    def __init__(self, locks: Locks, work: str) -> None:
        self._locks = locks
        self._scripts = locks.scripts
        self._keys = keys.lock(work), keys.asked(work)

    def run(self, work: Callable[[], int]) -> int:
        """Calls `work()`, repeats it as long as it was requested meanwhile, for `ROUNDS_S` at most, and returns the
        sum of its results.

        If another process is at it, leaves a request, so that it does another round, and returns the sum so far (0 at
        first). Raises what `work` raises, if it was requested meanwhile after one more round. Raises Unavailable.
        """
        return self._rounds(work, repeats_failed=True)

    def _rounds(self, work: Callable[[], int], repeats_failed: bool) -> int:
        done = 0
        begun_s = time.monotonic()
        while True:
            token = secrets.token_hex(8)
            if not self._scripts.run(TAKE, self._keys, [token, LOCK_MS]):
                return done
            asked = 0
            try:
                try:
                    with self._locks.kept(*self._keys, token):
                        done += work()
                finally:
                    asked = self._scripts.run(RELEASE, self._keys, [token])
            except Unavailable:
                # another round would only wait once more
                raise
            except Exception:
                # once: work that always fails may always be asked for
                if asked and repeats_failed:
                    self._rounds(work, repeats_failed=False)
                raise
            if not asked or time.monotonic() - begun_s > ROUNDS_S:
                return done
