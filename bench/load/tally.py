"""The counts of a run of the load generator, and the window of time in which it counts."""

from __future__ import annotations

import asyncio
import time
from array import array
from typing import Any

from bench.machine import cpu_s

EXAMPLES = 10
TENTHS = 10


class Tally:
    """Counts and times, recorded only while `open`; errors are always recorded."""

    def __init__(self) -> None:
        self.open = False
        self.turns = self.games = self.logins = 0
        self.turn_s = array("d")
        self.login_s = array("d")
        self.wrong = 0
        self.told_again = 0
        self.examples: list[str] = []
        self.opened_s = self.last_game_s = 0.0
        self.ends: dict[str, tuple[int, Any]] = {}

    def say_wrong(self, sentence: str) -> None:
        """Record a violation of the protocol page."""
        self.wrong += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(sentence)

    def turned(self, took_s: float) -> None:
        """Record that a turn was acknowledged, `took_s` after it was sent."""
        if self.open:
            self.turns += 1
            self.turn_s.append(took_s)

    def logged_in(self, took_s: float) -> None:
        """Record that a bot was logged in, `took_s` after it began to connect."""
        if self.open:
            self.logins += 1
            self.login_s.append(took_s)

    def ended(self, match_id: str, version: int, state: Any) -> None:
        """Record that one of a match's bots was told its end; the other must be told the same."""
        if match_id in self.ends:
            if self.ends[match_id] != (version, state):
                self.say_wrong(f"{match_id}: its bots saw two ends: {self.ends[match_id]} and {(version, state)}")
            return
        self.ends[match_id] = (version, state)
        if self.open:
            self.games += 1
            self.last_game_s = time.perf_counter()


class Window:
    """The measured time. `watch`: the processes whose CPU time is measured, by part."""

    def __init__(self, tally: Tally, watch: dict[str, list[int]]) -> None:
        self._tally = tally
        self._watch = watch
        self.tenths: list[int] = []
        self.seconds = 0.0
        self.cpu_s: dict[str, float] = {}

    async def keep_open(self, limit_s: float, done: asyncio.Event | None = None) -> None:
        """Count for `limit_s` seconds or until `done`; record the turns in each tenth of the limit."""
        before_s, own_s = self._cpu(), time.process_time()
        begin_s = self._tally.opened_s = time.perf_counter()
        self._tally.open = True
        print('{"window": "open"}', flush=True)
        counted = 0
        for tenth in range(1, TENTHS + 1):
            left_s = begin_s + limit_s * tenth / TENTHS - time.perf_counter()
            await _wait(done, max(0.0, left_s))
            self.tenths.append(self._tally.turns - counted)
            counted = self._tally.turns
            if done is not None and done.is_set():
                break
        self._tally.open = False
        self.seconds = time.perf_counter() - begin_s
        self.cpu_s = {part: after_s - before_s[part] for part, after_s in self._cpu().items()}
        self.cpu_s["load"] = time.process_time() - own_s

    def result(self) -> dict[str, Any]:
        """The counts as the result of a job; times of turns and logins as percentiles in ms."""
        tally = self._tally
        return {
            "seconds": self.seconds,
            "turns": tally.turns,
            "games": tally.games,
            "logins": tally.logins,
            "turn_ms": percentiles_ms(tally.turn_s),
            "login_ms": percentiles_ms(tally.login_s),
            "tenths": self.tenths,
            "cpu_s": self.cpu_s,
            "last_game_s": max(0.0, tally.last_game_s - tally.opened_s),
            "ends": {match_id: version for match_id, (version, _) in tally.ends.items()},
            "wrong": tally.wrong,
            "told_again": tally.told_again,
            "examples": tally.examples,
        }

    def _cpu(self) -> dict[str, float]:
        return {part: cpu_s(pids) for part, pids in self._watch.items()}


def percentiles_ms(times_s: array[float]) -> dict[str, float]:
    """`{"p50", "p99", "max"}` in ms; empty without times."""
    if not times_s:
        return {}
    ordered = sorted(times_s)
    last = len(ordered) - 1
    picked = {"p50": ordered[last // 2], "p99": ordered[round(last * 0.99)], "max": ordered[-1]}
    return {name: round(value_s * 1000, 3) for name, value_s in picked.items()}


async def _wait(done: asyncio.Event | None, for_s: float) -> None:
    if done is None:
        await asyncio.sleep(for_s)
        return
    try:
        await asyncio.wait_for(done.wait(), for_s)
    except TimeoutError:
        return
