"""Contests whose pairing failed lately."""

from __future__ import annotations

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import time_s
from battlebot.redisio.unpaired import Unpaired


def test_a_contest_is_told_of_for_a_minute_after_its_pairing_last_failed(client: redis.Redis) -> None:
    """What was noted before is gone from Redis with the next note."""
    now_ms = time_s(client) * 1000
    client.zadd(keys.UNPAIRED, {"numberwang/old": now_ms - 61_000, "numberwang/late": now_ms - 50_000})
    assert Unpaired(client).queues() == ["numberwang/late"]
    Unpaired(client).note("gomoku/cup")
    assert Unpaired(client).queues() == ["gomoku/cup", "numberwang/late"]
    assert client.zcard(keys.UNPAIRED) == 2
