"""Whether a bot has a seat in a live match. Redis alone knows; nothing is asked of MongoDB."""

from __future__ import annotations

from typing import Any

from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts


def has_seat(store: MatchStore, bot: str, game: str, contest: str) -> bool:
    """Returns whether the bot has a seat in a live match of the contest. Raises Unavailable.

    Knows of the bot's empty seats and of its newest match, in which nobody may have noticed yet that it is gone.
    """
    with redis_errors():
        pipeline = store.client.pipeline(transaction=False)
        pipeline.smembers(keys.empty_seats(bot))
        pipeline.get(keys.newest(bot))
        answers: Any = pipeline.execute()
    empty, newest = answers
    matches = store.load_many(sorted({*texts(empty), *texts([newest] if newest else [])}))
    return any(
        match.verdict is None and (match.game, match.contest) == (game, contest) and match.seat_of(bot) is not None
        for match in matches.values()
    )
