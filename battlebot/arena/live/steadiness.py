"""Whether sweeps come in time, and so how soon the sweep may miss a bot that is absent."""

from __future__ import annotations

from typing import Any

import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors

SPARE_S = 2.0  # for bots and nodes, once Redis answers or a door is open, before one is missed or found dead
PATIENCE_S = 10.0  # the same for bots while sweeps are not in time; longer stalls are outages
SWEEP_LATE_S = 0.5  # a sweep that is later than this has stalled, and perhaps Redis with it


class Steadiness:
    """Remembers in Redis how sweeps have come. Every method raises Unavailable.

    The server may have kept a bot away that the sweep is about to miss, in two ways. For long: no node could let it in
    (`heartbeats.AWAY_S`, or one has just started). Heartbeats show that as an outage, of which the conductor tells the
    match: deadlines move by it. For a moment: Redis or the whole server stalled. Heartbeats are only late then, which
    is no outage and moves no deadline, or a slow server would wait for the absent for ever. But a bot whose time ended
    in the stall may be on its way in, and the first sweep would be quicker than its node. That sweep is late itself:
    bots get `SPARE_S` after it.
    """

    def __init__(self, client: redis.Redis, every_s: float) -> None:
        """`every_s`: how long after a sweep the next one should come."""
        self._client = client
        self._late_ms = int((every_s + SWEEP_LATE_S) * 1000)

    def note(self, now_s: float) -> float:
        """Notes a sweep; returns how long a bot's time must have been over before it is missed, in seconds.

        That is `SPARE_S` if sweeps have been in time for so long, else `PATIENCE_S`. If every sweep is late, nothing
        has stalled: only the first late one after one in time counts.
        """
        now_ms = int(now_s * 1000)
        with redis_errors():
            found: Any = self._client.hmget(keys.SWEEPS, "last", "since", "late")
            last_ms, since_ms, was_late = (int(value or 0) for value in found)
            late = now_ms - last_ms > self._late_ms
            if late and not was_late:
                since_ms = now_ms
            self._client.hset(keys.SWEEPS, mapping={"last": now_ms, "since": since_ms, "late": int(late)})
        return SPARE_S if now_ms - since_ms >= SPARE_S * 1000 else PATIENCE_S
