"""A worker's whole pairing of an open contest: reads who waits and who has met, reserves meetings, makes matches.

No bot is connected: their tickets are put into the queue as a login does. All of them have met others before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery

from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.storage import Storage
from battlebot.storage.meetings import pair_key
from bench.house import House
from bench.machine import cpu_s
from bench.runner import Bench, Row
from tasks.celeryapp import make_celery

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
MEETINGS = 5
MET = 10  # opponents that each bot has already met, once
LIMIT_S = 120.0
PARTS = ("worker", "valkey", "mongod")


def run(bench: Bench) -> Row:
    """Seconds from requesting the pairing until all are paired, for the largest of `--size`, or 1,000 and 10,000."""
    sizes = [bench.size_asked] if bench.size_asked else [1000] if bench.quick else [1000, 10_000]
    with bench.house() as house:
        # only this scenario requests pairings
        house.stop("beat")
        with _hall(house) as hall:
            hall.paired("warm", 2)
            rows = [hall.paired(f"of {size}", size) for size in sizes]
    return {
        "value": rows[-1]["seconds"],
        "unit": "s",
        "pairings": rows,
        "wrong": sum(len(row["wrong"]) for row in rows),
        "examples": [sentence for row in rows for sentence in row["wrong"]],
    }


class _Hall:
    """The stores of a house and its tasks."""

    def __init__(self, house: House, celery: Celery, storage: Storage) -> None:
        self.house, self.celery, self.storage = house, celery, storage
        self.client = connect(house.server.settings.redis_url)
        self.queues, self.matches = Queues(self.client), MatchStore(self.client)

    def paired(self, contest: str, size: int) -> Row:
        """Run one pairing of `size` waiting bots; return its time, its CPU time and what is wrong with the result."""
        bots = [f"bot{number:06}" for number in range(size)]
        self.storage.contests.open(GAME, contest, MEETINGS)
        met = self._let_them_have_met(contest, bots)
        queue = keys.queue_name(GAME, contest)
        for number, bot in enumerate(bots):
            self.queues.wait(queue, Ticket(f"nowhere/{contest}-{number}", bot, 1e9 + number), BY_A_TASK)
        live_before = len(self.matches.live_ids())
        pids = {part: self.house.parts[part] for part in PARTS}
        used = {part: cpu_s(pids[part]) for part in PARTS}
        begin_s = time.perf_counter()
        self.celery.send_task("tasks.contests.pair", args=(GAME, contest))
        left = size
        while left > size % 2 and time.perf_counter() < begin_s + LIMIT_S:
            time.sleep(0.005)
            left = int(self.client.zcard(keys.queue(queue)))
        seconds = time.perf_counter() - begin_s
        spent = {part: round(cpu_s(pids[part]) - used[part], 3) for part in PARTS}
        begun = len(self.matches.live_ids()) - live_before
        wrong = self._check(contest, size, met, begun, left)
        return {"bots": size, "met": met, "seconds": round(seconds, 3), "cpu_s": spent, "wrong": wrong}

    def _let_them_have_met(self, contest: str, bots: list[str]) -> int:
        at, size = datetime.now(UTC) - timedelta(hours=1), len(bots)
        pairs = [
            (bot, bots[(index + step) % size]) for step in range(1, MET // 2 + 1) for index, bot in enumerate(bots)
        ]
        rows = [_meeting(contest, pair, number, at) for number, pair in enumerate(pairs)] if size > MET else []
        for index in range(0, len(rows), 10_000):
            self.storage.database["meetings"].insert_many(rows[index : index + 10_000])
        return len(rows)

    def _check(self, contest: str, size: int, met: int, begun: int, left: int) -> list[str]:
        rows = self.storage.meetings.of_contest(GAME, contest)
        now = [row for row in rows if row["state"] == "open"]
        seats = {bot for row in now for bot in row["bots"]}
        found = {"matches": begun, "open": len(now), "met": len(rows) - len(now), "bots": len(seats), "left": left}
        wanted = {"matches": size // 2, "open": size // 2, "met": met, "bots": size - size % 2, "left": size % 2}
        return [] if found == wanted else [f"{contest}: {found} instead of {wanted}"]


@contextmanager
def _hall(house: House) -> Iterator[_Hall]:
    storage = Storage(house.server.settings)
    hall = _Hall(house, make_celery(house.server.settings), storage)
    try:
        yield hall
    finally:
        hall.client.close()
        storage.close()


def _meeting(contest: str, pair: tuple[str, str], number: int, at: datetime) -> dict[str, Any]:
    return {
        "_id": f"{contest} {number}",
        "game": GAME,
        "contest": contest,
        "pair": pair_key(pair),
        "n": 1,
        "round": 0,
        "bots": list(pair),
        "first": pair[0],
        "state": "played",
        "victor": pair[0],
        "at": at + timedelta(milliseconds=number),
    }
