"""A worker's archive: finished short matches of a contest go from Redis into MongoDB, with all updates they cause."""

from __future__ import annotations

import time

import orjson

from battlebot.arena.live.calls import encode_match
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.storage import Storage
from battlebot.storage.meetings import Meeting
from bench.house import House
from bench.machine import cpu_s
from bench.runner import Bench, Row, costs
from bench.seeding import GAME, MEETINGS, played
from tasks.celeryapp import make_celery

ECHO_CONNECTIONS = 50
CONTEST = "cup"
BOTS = [f"bot{number:06}" for number in range(100)]
PARTS = ("worker", "valkey", "mongod")
LIMIT_S = 120.0


def run(bench: Bench) -> Row:
    """games/s of one worker process, for `--size` (5,000) matches of seven turns."""
    size = bench.size(full=5000, quick=1000)
    with bench.house() as house:
        house.stop("beat")
        _end(house, "warm", 10)
        _archive(house, 10)
        _end(house, CONTEST, size)
        before_s = {part: cpu_s(house.parts[part]) for part in PARTS}
        seconds = _archive(house, size)
        used_s = {part: cpu_s(house.parts[part]) - before_s[part] for part in PARTS}
        _, answer = house.request(f"/games/{GAME}/contest/{CONTEST}?limit=1")
    counted = sum(row["played"] for row in answer["bots"])
    wrong = [] if counted == 2 * size else [f"{counted} instead of {2 * size} seats stand in the ranking"]
    return {
        "value": round(size / seconds, 1),
        "unit": "games/s",
        "games": size,
        "works": "worker",
        **costs({"cpu_s": used_s, "seconds": seconds}, size),
        "wrong": len(wrong),
        "examples": wrong,
    }


def _end(house: House, contest: str, count: int) -> None:
    storage, client = Storage(house.server.settings), connect(house.server.settings.redis_url)
    running = storage.contests.open(GAME, contest, MEETINGS)
    pipeline, wanted = client.pipeline(transaction=False), []
    for number, ended in enumerate(played(contest, BOTS, count)):
        bots = [seat.bot for seat in ended.match.seats]
        match_id = f"{contest}{number:020x}"
        wanted.append(Meeting(match_id, bots, number % MEETINGS + 1))
        document = encode_match(ended.match).replace(ended.match.id.encode(), match_id.encode(), 1)
        pipeline.hset(keys.match(match_id), mapping={"rev": 7, "doc": document, "seq": ended.seq})
        pipeline.rpush(keys.turns(match_id), *(orjson.dumps(turn) for turn in ended.turns))
        pipeline.zadd(keys.FINISHED, {match_id: ended.seq})
    reserved = storage.ledger.reserve(running, wanted)
    assert reserved is not None
    assert len(reserved) == count
    pipeline.execute()
    client.close()
    storage.close()


def _archive(house: House, count: int) -> float:
    """Seconds from requesting the archive until the finished list is empty. Raises RuntimeError after LIMIT_S."""
    client = connect(house.server.settings.redis_url)
    make_celery(house.server.settings).send_task("tasks.matches.archive")
    begin_s = time.perf_counter()
    while client.zcard(keys.FINISHED):
        if time.perf_counter() > begin_s + LIMIT_S:
            raise RuntimeError(f"{count} matches were not archived in {LIMIT_S:g} s")
        time.sleep(0.005)
    client.close()
    return time.perf_counter() - begin_s
