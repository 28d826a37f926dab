"""The health of stateless bots' addresses: latencies, latest failures, pauses. Kept in Redis for a week."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import redis

from battlebot.redisio import keys
from battlebot.redisio.connection import of_each, redis_errors
from battlebot.runtime import sharedtime
from battlebot.stateless.asking import Question, Reply

LATENCIES = 500  # the latest ones, from which percentiles are computed
FAILURES = 20
KEPT_S = 7 * 86_400
PAUSED_AFTER = 5  # consecutive failures
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 3600.0


@dataclass
class _Notes:
    """What was noted of an address and is not written yet; `in_a_row`: the failures since its latest answer."""

    in_a_row: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))
    failures: list[dict[str, Any]] = field(default_factory=list)


class Health:
    """Notes are collected in this process and written by `flush`; readers see only what has been written."""

    def __init__(self, client: redis.Redis, now_s: Callable[[], float] = sharedtime.now_s) -> None:
        self._client = client
        self._now_s = now_s
        self._notes: dict[str, _Notes] = {}
        self._lock = threading.Lock()

    def note(self, question: Question, reply: Reply) -> None:
        """Notes the outcome of a question; ignores failures of the server, which say nothing about the address."""
        failure = reply.failure
        if failure is not None and failure.ours:
            return
        with self._lock:
            notes = self._notes.setdefault(question.address, _Notes())
            if failure is None:
                notes.in_a_row = 0
                notes.latencies.append(reply.thinking_s)
                return
            notes.in_a_row += 1
            about = {"code": failure.code, "error": failure.sentence, "bot_id": question.bot}
            row = {"at": int(self._now_s() * 1000), **about, "match": question.match_id, "game": question.game}
            notes.failures.append(row)

    def flush(self) -> list[str]:
        """Writes what was noted since the last call; returns the addresses this has paused.

        Raises Unavailable; other addresses' notes are then left for the next call. Those being written are not: they
        may have been written, and failures that count twice would pause an address too early.
        """
        paused = []
        with self._lock:
            addresses = list(self._notes)
        if addresses:
            # while Redis is away nothing is on its way
            with redis_errors():
                self._client.ping()
        for address in addresses:
            with self._lock:
                notes = self._notes.pop(address, None)
            if notes is None:
                continue
            with redis_errors():
                in_a_row = self._write(address, notes)
            if in_a_row >= PAUSED_AFTER:
                self.pause(address)
                paused.append(address)
        return paused

    def _write(self, address: str, notes: _Notes) -> int:
        """Returns how many failures in a row the address has had."""
        key, latencies, failures = keys.health(address), keys.latencies(address), keys.failures(address)
        pipeline = self._client.pipeline()
        if notes.latencies:
            pipeline.lpush(latencies, *(f"{latency * 1000:.3f}" for latency in notes.latencies))
            pipeline.ltrim(latencies, 0, LATENCIES - 1)
            pipeline.expire(latencies, KEPT_S)
            pipeline.hset(key, "row", 0)
            pipeline.hdel(key, "until")
        if notes.failures:
            pipeline.lpush(failures, *(orjson.dumps(row) for row in notes.failures))
            pipeline.ltrim(failures, 0, FAILURES - 1)
            pipeline.expire(failures, KEPT_S)
        pipeline.hincrby(key, "row", notes.in_a_row)
        pipeline.expire(key, KEPT_S)
        return int(pipeline.execute()[-2])

    def pause(self, address: str) -> float:
        """Pauses an address; returns until when (epoch). Raises Unavailable.

        A pause is twice as long as the last one, up to `LONGEST_PAUSE_S`, if less time lies between them than that one
        took. Failures of questions that were under way when a pause began do not extend it.
        """
        key, now_s = keys.health(address), self._now_s()
        with redis_errors():
            last: Any = self._client.hmget(key, "pause", "paused", "until")
            last_s, ended_s, until_s = (float(value or 0) for value in last)
            if until_s > now_s:
                return until_s
            soon = now_s < ended_s + last_s
            pause_s = min(LONGEST_PAUSE_S, 2 * last_s) if soon else FIRST_PAUSE_S
            until = f"{now_s + pause_s:.3f}"
            self._client.hset(key, mapping={"until": until, "pause": pause_s, "paused": until})
            self._client.expire(key, KEPT_S)
        return now_s + pause_s

    def passed(self, address: str) -> None:
        """Ends a pause, as the address has passed the test after it. Raises Unavailable."""
        key = keys.health(address)
        with redis_errors():
            self._client.hset(key, "row", 0)
            self._client.hdel(key, "until")
            # its owner may have resumed it meanwhile, which forgets all
            self._client.expire(key, KEPT_S)

    def resume(self, address: str) -> None:
        """Ends a pause at the owner's request, and forgets earlier pauses and failures in a row. Raises Unavailable."""
        with redis_errors():
            self._client.delete(keys.health(address))

    def paused_until_s(self, addresses: Sequence[str]) -> dict[str, float | None]:
        """Address -> until when (epoch) it is paused, or None; a moment that has passed means that a test is due.

        Raises Unavailable.
        """
        found = of_each(self._client, addresses, lambda pipeline, one: pipeline.hget(keys.health(one), "until"))
        until_s = (None if value is None else float(value) for value in found)
        return dict(zip(addresses, until_s, strict=True))

    def report(self, address: str, bot: str) -> dict[str, Any]:
        """`{"answers", "p50Ms", "p99Ms", "failures", "failuresInARow", "pausedUntil"}` of an address; times in ms.

        They cover all bots at the address, except `failures`: the latest ones of this bot only, newest first, since
        other bots may have another owner. Raises Unavailable.
        """
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.lrange(keys.latencies(address), 0, -1)
            pipeline.lrange(keys.failures(address), 0, -1)
            pipeline.hmget(keys.health(address), "row", "until")
            latencies, failures, (row, until) = pipeline.execute()
        ordered = sorted(float(latency) for latency in latencies)
        return {
            "answers": len(ordered),
            "p50Ms": _percentile(ordered, 0.50),
            "p99Ms": _percentile(ordered, 0.99),
            "failures": [failure for failure in map(orjson.loads, failures) if failure["bot_id"] == bot],
            "failuresInARow": int(row or 0),
            "pausedUntil": None if until is None else round(float(until) * 1000),
        }


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """The least of the ordered values that at least a `share` of them does not exceed; None if there are none."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)] if ordered else None
