"""For how long a contest has waited in vain for its bots, in which they could have come. Kept in Redis."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

KEPT_S = 86_400  # since the last look: a contest may end, and is not looked at any more, while bots are missing


class Chance(NamedTuple):
    """A bot could have come up to `until_s` (epoch), but for the times in `shut` (from, until), which may overlap."""

    until_s: float
    shut: tuple[tuple[float, float], ...] = ()


class Wait(NamedTuple):
    """A bot has been missing since `since_s` (epoch), for `seconds` in which it could have come up to `counted_s`."""

    since_s: float
    seconds: float
    counted_s: float


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
        missing: Mapping[str, Chance],
        now_s: float,
        most_s: float,
        just_come: Collection[str] = (),
    ) -> dict[str, Wait]:
        """Notes all bots that are `missing` now; returns how long the contest has waited for each.

        Adds the time since a bot's was last counted in which it could have come, at most `most_s`. The time after its
        `until_s` is left to the next call. What is noted of bots that have `just_come` stays as it is; they are not
        returned. Forgets all other bots.
        """
        known = self.noted(game, contest, run)
        noted = {}
        for bot, chance in missing.items():
            before = known.get(bot, Wait(now_s, 0.0, now_s))
            # it is later than now if the clock has been set back
            counted_s = min(before.counted_s, now_s)
            until_s = max(counted_s, chance.until_s)
            passed_s = _outside(counted_s, until_s, chance.shut)
            noted[bot] = Wait(before.since_s, before.seconds + min(passed_s, most_s), until_s)
        key, over = keys.missed(game, contest), known.keys() - noted.keys() - set(just_come)
        with redis_errors():
            pipeline = self.client.pipeline(transaction=True)
            # what stays as it is is not written again: it may be forgotten meanwhile
            if over:
                pipeline.hdel(key, *over)
            if noted:
                pipeline.hset(key, mapping={bot: orjson.dumps([run, *wait]) for bot, wait in noted.items()})
            pipeline.expire(key, KEPT_S)
            pipeline.execute()
        return noted

    def forget(self, game: str, contest: str, bots: Iterable[str]) -> None:
        """Forgets at least one bot: for these the contest waits no longer."""
        with redis_errors():
            self.client.hdel(keys.missed(game, contest), *bots)

    def noted(self, game: str, contest: str, run: str) -> dict[str, Wait]:
        """Returns how long the contest had waited, at the last `note`, for bots that were missing or had just come."""
        with redis_errors():
            kept: Any = self.client.hgetall(keys.missed(game, contest))
        rows = ((bot.decode(), orjson.loads(row)) for bot, row in kept.items())
        # a later version may append to a row
        return {bot: Wait(*wait[: len(Wait._fields)]) for bot, (its_run, *wait) in rows if its_run == run}


def _outside(since_s: float, until_s: float, times: Iterable[tuple[float, float]]) -> float:
    """How many seconds of a time are in none of these, which may overlap."""
    seconds, at_s = 0.0, since_s
    for begin_s, end_s in sorted(times):
        seconds += max(0.0, min(begin_s, until_s) - at_s)
        at_s = max(at_s, end_s)
    return seconds + max(0.0, until_s - at_s)
