"""How the addresses of stateless bots are doing: latencies, last failures, pauses. Kept in Redis for a week."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from battlebot.arena import keys
from battlebot.arena.connection import redis_errors
from battlebot.arena.scripts import Scripts
from battlebot.stateless.asking import Question, Reply

LATENCIES = 500  # the last ones, of which the percentiles are made
FAILURES = 20
KEPT_S = 7 * 86_400
PAUSED_AFTER = 5  # failures one after another
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 3600.0


class Health:
    """Notes are gathered in this process and written by `flush`; whoever reads sees what has been written."""

    def __init__(self, scripts: Scripts, now_s: Callable[[], float] = time.time) -> None:
        self._client = scripts.client
        self._now_s = now_s
        self._latencies: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=LATENCIES))
        self._failures: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._good: dict[str, bool] = {}
        self._lock = threading.Lock()

    def note(self, question: Question, reply: Reply) -> None:
        """Remembers what became of a question; a failure of the server's own says nothing about the address."""
        failure = reply.failure
        if failure is not None and failure.ours:
            return
        with self._lock:
            self._good[question.address] = failure is None
            if failure is None:
                self._latencies[question.address].append(reply.thinking_s)
                return
            about = {"code": failure.code, "error": failure.sentence, "bot_id": question.bot}
            row = {"at": int(self._now_s() * 1000), **about, "match": question.match_id, "game": question.game}
            self._failures[question.address].append(row)

    def flush(self) -> list[str]:
        """Writes what was noted since; answers the addresses that are paused by it. Raises Unavailable."""
        with self._lock:
            latencies, self._latencies = self._latencies, defaultdict(lambda: deque(maxlen=LATENCIES))
            failures, self._failures = self._failures, defaultdict(list)
            good, self._good = self._good, {}
        paused = []
        for address in good:
            with redis_errors():
                failed = failures.get(address, [])
                in_a_row = self._write(address, latencies.get(address, ()), failed, good[address])
                if failed and not good[address] and in_a_row >= PAUSED_AFTER:
                    self.pause(address)
                    paused.append(address)
        return paused

    def _write(
        self, address: str, latencies: Sequence[float], failures: Sequence[Mapping[str, Any]], last_good: bool
    ) -> int:
        key = keys.health(address)
        pipeline = self._client.pipeline()
        if latencies:
            pipeline.lpush(f"{key}:latencies", *(f"{latency * 1000:.3f}" for latency in latencies))
            pipeline.ltrim(f"{key}:latencies", 0, LATENCIES - 1)
            pipeline.expire(f"{key}:latencies", KEPT_S)
        if latencies or last_good:
            pipeline.hset(key, "row", 0)
            pipeline.hdel(key, "until")
        if failures:
            pipeline.lpush(f"{key}:failures", *(orjson.dumps(row) for row in failures))
            pipeline.ltrim(f"{key}:failures", 0, FAILURES - 1)
            pipeline.expire(f"{key}:failures", KEPT_S)
        pipeline.hincrby(key, "row", 0 if last_good else len(failures))
        pipeline.expire(key, KEPT_S)
        return int(pipeline.execute()[-2])

    def pause(self, address: str) -> float:
        """Asks the address no more for a while; answers until when (epoch). Raises Unavailable.

        A pause that begins sooner after another than that one was long is twice as long. What was under way when it
        began, and fails while it lasts, makes it no longer.
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
        """The address has passed the test after its pause: it is asked again. Raises Unavailable."""
        key = keys.health(address)
        with redis_errors():
            self._client.hset(key, "row", 0)
            self._client.hdel(key, "until")

    def resume(self, address: str) -> None:
        """Its owner says that the address will answer again: it is asked again. Raises Unavailable."""
        with redis_errors():
            self._client.delete(keys.health(address))

    def paused_until_s(self, addresses: Sequence[str]) -> dict[str, float | None]:
        """Address -> until when (epoch) it is paused; None where it is not. One that has passed waits for a test."""
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            for address in addresses:
                pipeline.hget(keys.health(address), "until")
            found = pipeline.execute() if addresses else []
        return {
            address: None if value is None else float(value) for address, value in zip(addresses, found, strict=True)
        }

    def report(self, address: str, bot: str) -> dict[str, Any]:
        """`{"answers", "p50Ms", "p99Ms", "failures", "failuresInARow", "pausedUntil"}` of an address; times in ms.

        All are of the address, whichever bots are there, but for `failures`: these are the last ones, newest first, of
        the bot alone, for others may be another owner's. Raises Unavailable.
        """
        key = keys.health(address)
        with redis_errors():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.lrange(f"{key}:latencies", 0, -1)
            pipeline.lrange(f"{key}:failures", 0, -1)
            pipeline.hmget(key, "row", "until")
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
    """The nearest-rank percentile."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None
