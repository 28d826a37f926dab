"""The default answer about a contest with very many stored matches: its ranking and its most recent thousand.

Many of its 200 bots are level with others, so that their results against one another count.
"""

from __future__ import annotations

import http.client
import itertools
import json
import time
from array import array
from collections.abc import Iterable

from battlebot.storage import Storage
from battlebot.storage.moves import move
from bench.house import House
from bench.load.tally import percentiles_ms
from bench.machine import cpu_s
from bench.runner import Bench, Row
from bench.seeding import GAME, MEETINGS, documents

ECHO_CONNECTIONS = 1
CONTEST = "cup"
AT_ONCE = 10_000
PATH = f"/games/{GAME}/contest/{CONTEST}"
BOTS = [f"bot{number:06}" for number in range(200)]
LISTED = 1000
LATER = 20  # results that come between two answers


def run(bench: Bench) -> Row:
    """p99 in ms with `--size` (1,000,000) stored matches.

    Separately the first answer, those after one more result each, and those for the next page.
    """
    size = bench.size(full=1_000_000, quick=20_000)
    with bench.house() as house:
        house.stop("beat", "worker")
        matches = documents(CONTEST, BOTS, size + LATER)
        storage = Storage(house.server.settings)
        storage.ensure_indexes()
        storage.contests.open(GAME, CONTEST, MEETINGS)
        rest = size
        while rest:
            rest -= _store(storage, itertools.islice(matches, min(rest, AT_ONCE)))
        first_ms, wrong = _ask(house, PATH, 1)[0][0] * 1000, []
        before_s = cpu_s(house.parts["web"]), cpu_s(house.parts["mongod"])
        took_s, found = _ask(house, PATH, 40 if bench.quick else 300)
        used_s = cpu_s(house.parts["web"]) - before_s[0], cpu_s(house.parts["mongod"]) - before_s[1]
        games = [row["_id"] for row in found["games"]]
        if games != [f"{number:024x}" for number in range(size - 1, size - 1 - LISTED, -1)]:
            wrong.append(f"the answer lists {len(games)} matches from {games[:1]} to {games[-1:]}")
        if sum(row["played"] for row in found["bots"]) != 2 * size:
            wrong.append("the ranking has not counted all matches")
        later_s, _ = _ask(house, found["next"], 10)
        after_s = array("d")
        for match in matches:
            _store(storage, [match])
            after_s += _ask(house, PATH, 1)[0]
        storage.close()
    times = percentiles_ms(took_s)
    return {
        "value": times["p99"],
        "unit": "ms",
        "matches": size,
        "turn_ms": times,
        "first_ms": round(first_ms, 1),
        "after_result_ms": percentiles_ms(after_s),
        "next_page_ms": percentiles_ms(later_s),
        "cpu_us": {part: round(s * 1e6 / len(took_s)) for part, s in zip(("web", "mongod"), used_s, strict=True)},
        "wrong": len(wrong),
        "examples": wrong,
    }


def _store(storage: Storage, matches: Iterable[Row]) -> int:
    """Stores the matches with what the archive keeps of them; returns how many they were."""
    some = list(matches)
    storage.database["games"].insert_many(some, ordered=False)
    move(storage.database["standings"], storage.database["pairs"], some)
    return len(some)


def _ask(house: House, path: str, times: int) -> tuple[array[float], Row]:
    connection = http.client.HTTPConnection(house.url.removeprefix("http://"), timeout=60)
    took_s, body = array("d"), b""
    for _ in range(times):
        began_s = time.perf_counter()
        connection.request("GET", path)
        body = connection.getresponse().read()
        took_s.append(time.perf_counter() - began_s)
    connection.close()
    return took_s, json.loads(body)
