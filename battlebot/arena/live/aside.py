"""Matches that the server cannot go on with, nor store: set aside in Redis, for a person to look at."""

from __future__ import annotations

from battlebot.arena.live.seats import seatings
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors


def set_aside(store: MatchStore, match_id: str) -> None:
    """Takes a match off the lists of live and of ended ones; its own keys stay. Raises Unavailable.

    It holds its bots up no more, as far as it can be read who they are: of others, empty seats are offered for a day.
    A contest's meeting is left to the contests' sweep, which gives up those of matches that are not live.
    """
    seating = seatings(store, [match_id]).get(match_id)
    with redis_errors():
        pipeline = store.client.pipeline(transaction=True)
        pipeline.sadd(keys.SET_ASIDE, match_id)
        for live in (keys.FINISHED, keys.DEADLINES, keys.ASKING):
            pipeline.zrem(live, match_id)
        for seat in seating.seats if seating is not None else ():
            pipeline.srem(keys.empty_seats(seat.bot), match_id)
            pipeline.srem(keys.playing(seat.bot), match_id)
            if seat.address is not None:
                pipeline.srem(keys.asked_at(seat.address), match_id)
        pipeline.execute()
