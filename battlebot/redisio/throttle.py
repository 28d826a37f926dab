"""Throttles requests for work over all processes: at once, then one trailing request, that a sweep takes up."""

from __future__ import annotations

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts

AT_ONCE = 1000  # most subjects that one call of `due` takes up


class SharedThrottle:
    """`work` names a kind of work, asked for at most about every `every_s` seconds per subject. Raises Unavailable."""

    def __init__(self, client: redis.Redis, work: str, every_s: float = 1.0) -> None:
        self._client = client
        self._work = work
        self._put_off = keys.put_off(work)
        self._every_s = every_s

    def attempt(self, subject: str, again_s: float) -> bool:
        """Returns whether this is the first time in the interval; if not, nothing is put off.

        For work that may fail: until it is `done`, the interval lasts for only `again_s`.
        """
        with redis_errors():
            key = keys.throttled(self._work, subject)
            return bool(self._client.set(key, "1", nx=True, px=int(again_s * 1000)))

    def done(self, subject: str) -> None:
        """Begins the whole interval: the work that was attempted is done."""
        with redis_errors():
            self._client.set(keys.throttled(self._work, subject), "1", px=int(self._every_s * 1000))

    def now(self, subject: str) -> bool:
        """Returns whether to ask for the work now; if not, the subject is put off, and a later `due` returns it."""
        if self.attempt(subject, self._every_s):
            return True
        with redis_errors():
            self._client.sadd(self._put_off, subject)
        return False

    def due(self) -> list[str]:
        """Takes up the subjects that were put off, each once: their work is to be asked for now. For a sweep."""
        with redis_errors():
            subjects = texts(self._client.spop(self._put_off, AT_ONCE))
        for subject in subjects:
            self.done(subject)
        return subjects
