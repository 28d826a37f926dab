"""Workers that ask stateless bots, killed and stopped in the middle of a tick: every tick is played, and once."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from battling import Field
from cluster import START_S, Cluster, cluster, free_port, wait_for
from httpbots import Bots

from battlebot.arena.live.leases import LEASE_MS
from battlebot.config import Settings
from battlebot.redisio import keys

APART = [{"name": name, "x": at, "y": at, "z": at} for at, name in enumerate("ab")]


@pytest.fixture(scope="module")
def others(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A worker for the rest and beat, for all tests of the module."""
    with cluster(replace(module_settings, bot_loopback=True), tmp_path_factory.mktemp("others")) as parts:
        parts.worker()
        parts.beat()
        yield parts


@pytest.fixture
def ground(others: Cluster) -> Iterator[Field]:
    """Where battles are begun; workers that ask are the tests' own, and end with them."""
    yield Field(others)
    for child in others.children:
        if child.program.name == "bots":
            child.kill()


def played_once(record: Any, ticks: int) -> bool:
    """Whether each of the two bots has one turn for each tick, and nobody a second or a forfeit."""
    turns = Counter(turn["player"] for turn in record["turns"])
    return turns == {"a": ticks, "b": ticks} and "forfeit" not in record["match"]


def test_a_worker_killed_in_a_tick_costs_no_tick(ground: Field, bots: Bots) -> None:
    """Another asks again when its lease has run out, though it begins without MongoDB; what was committed stays."""
    killed = ground.parts.bots()
    match = ground.begin([bots.url("slow")] * 2, maxNumOfTicks=12, playerStartPositions=APART)
    wait_for(lambda: bots.asked["slow"] >= 5, "some ticks")
    os.kill(killed.pid, signal.SIGKILL)
    ground.parts.bots(mongodb_uri=f"mongodb://127.0.0.1:{free_port()}/nobody")
    assert played_once(ground.record(match), 12)


def test_a_worker_that_hangs_ends_and_says_where(ground: Field, bots: Bots) -> None:
    """In a game's code that never returns: all other stateless bots would never be asked again."""
    hangs = ground.parts.bots("tests.stateless.hanging_game_wsgi")
    match = ground.begin([bots.url("good")] * 2, maxNumOfTicks=2, playerStartPositions=APART)
    wait_for(lambda: not hangs.alive, "the end of a worker that hangs")
    assert re.search(r'hanging_game_wsgi.py", line \d+ in hang', ground.parts.logs())
    ground.parts.bots()
    assert played_once(ground.record(match), 2)


def test_a_worker_that_is_stopped_gives_its_matches_back(ground: Field, bots: Bots) -> None:
    """At once, though a bot keeps it waiting: nobody waits for a lease to run out, and the bot is charged nothing."""
    stopped = ground.parts.bots()
    ground.battles.settings = replace(ground.parts.settings, turn_timeout_ms=60_000)
    match = ground.begin([bots.url("hanging"), bots.url("good")], maxNumOfTicks=2, playerStartPositions=APART)
    wait_for(lambda: bots.asked["hanging"] == 1, "the question")
    second = ground.parts.bots()
    wait_for(lambda: " ready." in second.program.log.read_text(), "the second worker", START_S)
    os.kill(stopped.pid, signal.SIGTERM)
    began_s = time.monotonic()
    wait_for(lambda: bots.asked["hanging"] >= 2, "the question of the second worker")
    assert time.monotonic() - began_s < LEASE_MS / 1000
    bots.hanging.set()
    assert played_once(ground.record(match), 2)


def test_a_worker_that_writes_for_long_keeps_its_matches(ground: Field, bots: Bots) -> None:
    """What it notes of many urls takes a while, in which nobody else may take its matches for lost."""
    ground.parts.bots("tests.stateless.slow_notes_wsgi")
    ground.battles.settings = replace(ground.parts.settings, turn_timeout_ms=60_000)
    match = ground.begin([bots.url("hanging"), bots.url("good")], maxNumOfTicks=2, playerStartPositions=APART)
    wait_for(lambda: bots.asked["hanging"] == 1, "the question")
    left_ms = [LEASE_MS]

    def is_renewed() -> bool:
        left_ms.append(ground.client.pttl(keys.asking(match.id)))
        return left_ms[-1] > left_ms[-2]

    for _ in range(3):
        wait_for(is_renewed, "a lease that is renewed")
    assert bots.asked["hanging"] == 1
    bots.hanging.set()
    assert played_once(ground.record(match), 2)


def test_of_two_workers_one_asks(ground: Field, bots: Bots) -> None:
    """However often the task is sent: a bot has each question once."""
    ground.parts.bots()
    ground.parts.bots()
    match = ground.begin([bots.url("slow")] * 2, maxNumOfTicks=5, playerStartPositions=APART)
    for _ in range(20):
        ground.ask(match.id)
    assert played_once(ground.record(match), 5)
    assert bots.asked["slow"] == 10


def test_a_task_that_is_lost_is_sent_again(ground: Field, bots: Bots) -> None:
    """Here it was never sent at all: the sweep finds a match that nobody has looked after."""
    ground.conductor.ask_bots = lambda match_id: None
    ground.battles.settings = replace(ground.parts.settings, turn_timeout_ms=500)
    ground.parts.bots()
    match = ground.begin([bots.url("good")] * 2, maxNumOfTicks=3, playerStartPositions=APART)
    assert played_once(ground.record(match), 3)
