"""For how long a contest has waited in vain for its bots. Kept in Redis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import redis

from battlebot.arena import keys
from battlebot.arena.connection import redis_errors

_LOOKED = "/"  # a field beside those of missing bots, and no bot's name: when they were last looked for


class Wait(NamedTuple):
    """A bot has been missing since `since_s` (epoch), for `seconds` in which somebody looked."""

    since_s: float
    seconds: float


@dataclass
class Missing:
    """Notes belong to one `run` of a contest, as `Contest.run` names it: a later one knows nothing of them.

    Every method raises Unavailable when Redis does not answer.
    """

    client: redis.Redis

    def note(
        self, game: str, contest: str, run: str, missing: Collection[str], now_s: float, most_s: float
    ) -> dict[str, Wait]:
        """Notes all bots that are `missing` now; returns how long the contest has waited for each.

        Adds the time since the last call, at most `most_s`, and forgets all other bots.
        """
        known = self._read(game, contest, run)
        looked = known.pop(_LOOKED, Wait(now_s, 0.0))
        passed_s = min(max(0.0, now_s - looked.since_s), most_s)
        noted = {}
        for bot in missing:
            before = known.get(bot)
            noted[bot] = Wait(now_s, 0.0) if before is None else Wait(before.since_s, before.seconds + passed_s)
        key = keys.missed(game, contest)
        rows = {**noted, _LOOKED: Wait(now_s, 0.0)}
        with redis_errors():
            pipeline = self.client.pipeline(transaction=True)
            pipeline.delete(key)
            pipeline.hset(key, mapping={bot: orjson.dumps([run, *wait]) for bot, wait in rows.items()})
            pipeline.execute()
        return noted

    def noted(self, game: str, contest: str, run: str) -> dict[str, Wait]:
        """Returns how long the contest had waited for each missing bot at the last `note`."""
        known = self._read(game, contest, run)
        known.pop(_LOOKED, None)
        return known

    def _read(self, game: str, contest: str, run: str) -> dict[str, Wait]:
        with redis_errors():
            kept: Any = self.client.hgetall(keys.missed(game, contest))
        rows = ((bot.decode(), orjson.loads(row)) for bot, row in kept.items())
        return {bot: Wait(*wait) for bot, (its_run, *wait) in rows if its_run == run}
