"""Battles of four local HTTP bots, edge 8, at most 200 ticks, speed 0: one at a time, then ten at once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.rules.registry import discover
from battlebot.stateless.battles import Battles
from battlebot.stateless.kinds import make_askers
from battlebot.storage import Storage
from bench.house import House
from bench.machine import cpu_s, family, pin, two_cores
from bench.runner import Bench, Row, costs
from tasks.celeryapp import make_celery

ECHO_CONNECTIONS = 50
BOTS = 4
AT_ONCE = 10
PARTS = ("bots", "valkey", "worker", "mongod")
LIMIT_S = 300.0
OPTIONS = {"edgeLength": 8, "maxNumOfTicks": 200, "speed": 0}


def run(bench: Bench) -> Row:
    """ticks/s over `--size` (100) battles, ten at once; `alone`: the same for one battle at a time."""
    size = bench.size(full=100, quick=30)
    with bench.house() as house, _bots() as urls:
        if (cores := two_cores()) is not None:
            pin(house.parts["bots"], cores[0])
        ground = _Ground(house, urls)
        ground.play(AT_ONCE, AT_ONCE)
        alone = ground.play(max(5, size // 4), 1)
        before_s = {part: cpu_s(house.parts[part]) for part in PARTS}
        many = ground.play(size, AT_ONCE)
        used_s = {part: cpu_s(house.parts[part]) - before_s[part] for part in PARTS}
        wrong = ground.wrong()
    return {
        "value": many["ticks_per_s"],
        "unit": "ticks/s",
        "battles_per_s": many["battles_per_s"],
        "alone": alone,
        "battles": size,
        "ticks_a_battle": many["ticks_a_battle"],
        "works": "bots",
        **costs({"cpu_s": used_s, "seconds": many["seconds"]}, many["ticks"]),
        "wrong": len(wrong),
        "examples": wrong,
    }


class _Ground:
    """Begins battles in a house and waits until they end."""

    def __init__(self, house: House, urls: list[str]) -> None:
        settings = house.server.settings
        self._house, self._urls = house, urls
        self._client = connect(settings.redis_url)
        celery = make_celery(settings)

        def ask(match_id: str) -> None:
            celery.send_task("tasks.bots.ask", args=(match_id,))

        # matches end in workers, which have them archived
        conductor = Conductor(discover(), MatchStore(self._client), ask_archive=lambda: None, ask_bots=ask)
        askers = make_askers(settings, keeps=False)
        self._battles = Battles(settings, conductor, Bus(self._client), askers, Storage(settings).games)
        self._played: dict[str, int] = {}

    def play(self, count: int, at_once: int) -> Row:
        """Play `count` battles, `at_once` at a time; return their rates. Raises RuntimeError after LIMIT_S."""
        left, live, ticks = count, set[str](), 0
        begin_s = time.perf_counter()
        while left or live:
            while left and len(live) < at_once:
                players = [(f"bot{number}", url) for number, url in enumerate(self._urls)]
                live.add(self._battles.begin("battlecube", players, OPTIONS).id)
                left -= 1
            for match_id in self._over(live):
                live.discard(match_id)
                match = self._battles.conductor.store.load(match_id)
                self._played[match_id] = match.version
                ticks += match.state["currentTick"]
            if time.perf_counter() > begin_s + LIMIT_S:
                raise RuntimeError(f"{len(live)} battles did not end in {LIMIT_S:g} s")
            time.sleep(0.004)
        seconds = time.perf_counter() - begin_s
        return {
            "seconds": round(seconds, 3),
            "ticks": ticks,
            "ticks_per_s": round(ticks / seconds, 1),
            "battles_per_s": round(count / seconds, 2),
            "ticks_a_battle": round(ticks / count, 1),
        }

    def _over(self, live: set[str]) -> list[str]:
        """Which of the battles are over; asks Valkey once for all, because it shares its core with the bots."""
        asked = sorted(live)
        with self._client.pipeline(transaction=False) as pipeline:
            for match_id in asked:
                pipeline.hexists(keys.match(match_id), "seq")
            return [match_id for match_id, ended in zip(asked, pipeline.execute(), strict=True) if ended]

    def wrong(self) -> list[str]:
        """Sentences about the battles that are not archived as they were played."""
        return self._house.not_archived("battlecube", self._played)


@contextmanager
def _bots() -> Iterator[list[str]]:
    command = [sys.executable, "-m", "bench.cube_bots", str(BOTS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            ports = process.stdout.readline().split()
            if (cores := two_cores()) is not None:
                pin(family(process.pid), cores[1])
            yield [f"http://127.0.0.1:{port}/" for port in ports]
        finally:
            process.kill()
