"""Live matches that the sweep cannot look after: tried again, told of, and set aside where there is no hope."""

from __future__ import annotations

from typing import Any

import orjson
import redis
import structlog

from battlebot.arena.live.aside import set_aside
from battlebot.arena.live.store import MatchStore
from battlebot.errors import UnknownGame, UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors
from battlebot.runtime.loglimit import LogLimit

log = structlog.get_logger()

AGAIN_S = 10.0  # before such a match is tried again, perhaps by a worker of another version
GIVEN_UP_S = 900.0  # two versions run beside each other for minutes, and a game that is missing may be put back
FORGOTTEN_S = 180.0  # longer than sweeps are ever apart: if it has not failed since, somebody else has brought it on

# what does not pass as long as the versions and the games that run here stay the same
HOPELESS = (UnreadableMatch, UnknownGame)

may_tell = LogLimit()


def failing(client: redis.Redis) -> dict[str, tuple[float, float]]:
    """Returns match -> since when the sweep fails with it, and when it last did (epoch). Raises Unavailable."""
    with redis_errors():
        rows: Any = client.hgetall(keys.TROUBLES)
    times = {match_id.decode(): orjson.loads(row) for match_id, row in rows.items()}
    # a later version may append to a row
    return {match_id: (since_ms / 1000, last_ms / 1000) for match_id, (since_ms, last_ms, *_) in times.items()}


class Troubles:
    """Remembers in Redis, for operators too, which matches failed and since when. Every method raises Unavailable."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store
        self._client = store.client
        self._since_s: dict[str, float] = {}

    def recall(self, now_s: float) -> None:
        """Call before a sweep looks at any match: other workers sweep, too."""
        times = failing(self._client)
        past = [match_id for match_id, (_, last_s) in times.items() if now_s - last_s > FORGOTTEN_S]
        if past:
            with redis_errors():
                self._client.hdel(keys.TROUBLES, *past)
        self._since_s = {match_id: since_s for match_id, (since_s, _) in times.items() if match_id not in past}

    def note(self, match_id: str, error: Exception, now_s: float) -> None:
        """Puts a match off that failed now, so that it does not stand before others; or sets it aside.

        That is done only with one that nobody can read, or whose game nobody has, for `GIVEN_UP_S`. Any other failure
        is a mistake of our own, and the match may go on when that is mended.
        """
        since_s = self._since_s.setdefault(match_id, now_s)
        if isinstance(error, HOPELESS) and now_s - since_s >= GIVEN_UP_S:
            log.error("match.set_aside", match=match_id, exc_info=error)
            set_aside(self._store, match_id)
            self.over(match_id)
            return
        if may_tell(match_id):
            log.error("match.not_looked_after", match=match_id, exc_info=error)
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.hset(keys.TROUBLES, match_id, orjson.dumps([int(since_s * 1000), int(now_s * 1000)]))
            # only the list's time, as nobody may be able to write the match; whoever commits it sets it right
            pipeline.zadd(keys.DEADLINES, {match_id: int((now_s + AGAIN_S) * 1000)}, xx=True, gt=True)
            pipeline.execute()

    def over(self, match_id: str) -> None:
        """Forgets a match that has been looked after, or is gone."""
        if self._since_s.pop(match_id, None) is not None:
            with redis_errors():
                self._client.hdel(keys.TROUBLES, match_id)
