"""For how long a contest has waited in vain for its bots, in which they could have come. Kept in Redis."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

_LOOKED = "/"  # a field beside those of missing bots, and no bot's name: up to when time has been counted


class Wait(NamedTuple):
    """A bot has been missing since `since_s` (epoch), for `seconds` in which it could have come."""

    since_s: float
    seconds: float


@dataclass
class Missing:
    """Notes belong to one `run` of a contest, as `Contest.run` names it: a later one knows nothing of them.

    Every method raises Unavailable when Redis does not answer.
    """

    client: redis.Redis

    def note(
        self,
        game: str,
        contest: str,
        run: str,
        missing: Collection[str],
        now_s: float,
        most_s: float,
        until_s: float | None = None,
        shut: Iterable[tuple[float, float]] = (),
    ) -> dict[str, Wait]:
        """Notes all bots that are `missing` now; returns how long the contest has waited for each.

        Adds the time since it was last counted, up to `until_s` (None: now), without the times in `shut` (from, until)
        in which bots could not come; at most `most_s`. The time after `until_s` is left to the next call. Forgets all
        other bots.
        """
        known = self._read(game, contest, run)
        counted_s = known.pop(_LOOKED, Wait(now_s, 0.0)).since_s
        until_s = max(counted_s, now_s if until_s is None else until_s)
        noted = {}
        for bot in missing:
            before = known.get(bot, Wait(now_s, 0.0))
            passed_s = _outside(max(counted_s, before.since_s), until_s, shut)
            noted[bot] = Wait(before.since_s, before.seconds + min(passed_s, most_s))
        key = keys.missed(game, contest)
        rows = {**noted, _LOOKED: Wait(until_s, 0.0)}
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


def _outside(since_s: float, until_s: float, times: Iterable[tuple[float, float]]) -> float:
    """How many seconds of a time are in none of these, which may overlap."""
    seconds, at_s = 0.0, since_s
    for begin_s, end_s in sorted(times):
        seconds += max(0.0, min(begin_s, until_s) - at_s)
        at_s = max(at_s, end_s)
    return seconds + max(0.0, until_s - at_s)
