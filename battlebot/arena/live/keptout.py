"""Which bots the nodes have turned away lately, through no fault of the bots: known at all nodes."""

from __future__ import annotations

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts

TRIES_AGAIN_S = 20  # a bot that comes back later than this was not trying all the time
MOST = 100  # attempts that are remembered, the latest


class KeptOut:
    """Every method raises Unavailable."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, bot: str, came_s: float, away_s: float) -> None:
        """Notes that a login of the bot, which came at `came_s` (epoch), was turned away at `away_s`."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=True)
            pipeline.rpush(keys.kept_out(bot), f"{came_s * 1000:.0f} {away_s * 1000:.0f}")
            pipeline.ltrim(keys.kept_out(bot), -MOST, -1)
            pipeline.expire(keys.kept_out(bot), TRIES_AGAIN_S)
            pipeline.execute()

    def since_s(self, bot: str, left_s: float) -> float | None:
        """Returns when (epoch) the first of the bot's logins came that were turned away after `left_s`; None: none."""
        with redis_errors():
            rows = texts(self._client.lrange(keys.kept_out(bot), 0, -1))
        attempts = [(int(came_ms) / 1000, int(away_ms) / 1000) for came_ms, away_ms in map(str.split, rows)]
        return min((came_s for came_s, away_s in attempts if away_s >= left_s), default=None)
