"""Where a pass over many things is: if it does not come to its end, the next one begins there. For a sweep."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors


class Bookmark:
    """`work` names the passes, of which there is only one at a time. Raises Unavailable."""

    def __init__(self, client: redis.Redis, work: str) -> None:
        self._client = client
        self._key = keys.reached(work)

    def through(self, subjects: Iterable[str]) -> Iterator[str]:
        """Yields each, in the order of names, from the one after that at which the last pass was left, if it was.

        Even if its process was killed there: what can never be done must not keep the others waiting.
        """
        with redis_errors():
            reached = self._client.get(self._key)
        names = sorted(subjects)
        start = bisect_right(names, reached.decode()) if isinstance(reached, bytes) else 0
        for name in names[start:] + names[:start]:
            with redis_errors():
                self._client.set(self._key, name)
            yield name
        with redis_errors():
            self._client.delete(self._key)
