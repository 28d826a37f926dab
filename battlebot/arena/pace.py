"""Work that is wished for often and serves all who wished when it is done: asked for now and then, and at last."""

from __future__ import annotations

import redis

from battlebot.arena import keys
from battlebot.arena.connection import redis_errors, texts

AT_ONCE = 1000  # subjects of put-off work that are taken up together


class Pace:
    """`work` names a kind of work; it is done for a subject at most about every `every_s`. Raises Unavailable."""

    def __init__(self, client: redis.Redis, work: str, every_s: float = 1.0) -> None:
        self._client = client
        self._work = work
        self._put_off = keys.put_off(work)
        self._every_ms = int(every_s * 1000)

    def now(self, subject: str) -> bool:
        """Whether to ask for the work now; else it is kept in mind, and `due` answers it when the time has come."""
        with redis_errors():
            if self._client.set(keys.paced(self._work, subject), "1", nx=True, px=self._every_ms):
                return True
            self._client.sadd(self._put_off, subject)
        return False

    def due(self) -> list[str]:
        """The subjects whose work was put off, each once: to be asked for now. For a sweep."""
        with redis_errors():
            subjects = texts(self._client.spop(self._put_off, AT_ONCE))
            for subject in subjects:
                self._client.set(keys.paced(self._work, subject), "1", px=self._every_ms)
        return subjects
