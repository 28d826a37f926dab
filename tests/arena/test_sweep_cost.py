"""What a sweep reads of live matches: nothing as long as all nodes live, and no match twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import redis
from conductors import Conductor

from battlebot.arena.live.cutoff import LONGEST_S
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.sweep import Sweeper
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry

MATCHES = 4


@pytest.fixture
def matches(begun: Callable[..., Match]) -> list[Match]:
    """Returns matches that are not due, with their seats at n1 and n2."""
    now_s = time.time()
    return [
        begun("numberwang", f"n1/{number}.1", f"n2/{number}.1", now_s, turn_timeout_ms=600_000)
        for number in range(MATCHES)
    ]


@contextmanager
def reads(client: redis.Redis, count: int) -> Iterator[None]:
    """Checks how many matches Redis is asked for in the `with` block."""
    client.config_resetstat()
    yield
    stats = client.info("commandstats")
    assert stats.get("cmdstat_hget", {"calls": 0})["calls"] == count


def beats(client: redis.Redis, **ages_s: float) -> None:
    """Nodes (`n_tcp` stands for `n.tcp`) that lived until so long ago."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    for node, age_s in ages_s.items():
        for seconds in range(10, -1, -1):
            heartbeats.send(node.replace("_", "."), now_s - age_s - seconds, first=False)


@pytest.fixture
def sweeper(client: redis.Redis, store: MatchStore, registry: Registry) -> Sweeper:
    """It takes a node for dead after five seconds of silence."""
    return Sweeper(Conductor(registry, store), Queues(client), 5.0, 1.0)


# what else the sweep asks for with the same command: since when a door with living nodes has been open
DOOR = 1


def test_while_all_nodes_live_no_match_is_read(sweeper: Sweeper, client: redis.Redis, matches: list[Match]) -> None:
    """However many there are."""
    beats(client, n1=0, n2=0)
    with reads(client, DOOR):
        sweeper.sweep()


def test_however_many_nodes_are_silent_each_match_is_read_once(
    sweeper: Sweeper, client: redis.Redis, matches: list[Match]
) -> None:
    """They may be about to be found dead."""
    beats(client, n1=0, n2=3, n3=3, n4=4)
    with reads(client, DOOR + MATCHES):
        sweeper.sweep()


def test_a_node_of_a_shut_door_is_left_alone_after_a_while(
    sweeper: Sweeper, client: redis.Redis, matches: list[Match]
) -> None:
    """The last one was stopped for good: for a day nobody knows that."""
    beats(client, n1=0, n2=0, n3_tcp=LONGEST_S + 10)
    with reads(client, DOOR):
        sweeper.sweep()
    beats(client, n3_tcp=LONGEST_S - 10)
    with reads(client, DOOR + MATCHES):
        sweeper.sweep()
    assert "n3.tcp" in Heartbeats(client).all()


def test_when_a_node_is_dead_only_its_own_matches_are_looked_at(
    sweeper: Sweeper, client: redis.Redis, matches: list[Match], begun: Callable[..., Match], store: MatchStore
) -> None:
    """They are read again, as whoever changes a match must know all of it."""
    own = begun("numberwang", "n3/1.1", "n2/9.1", time.time(), turn_timeout_ms=600_000)
    beats(client, n1=0, n2=0, n3=30)
    with reads(client, DOOR + (MATCHES + 1) + 1):
        sweeper.sweep()
    assert [seat.place for seat in store.load(own.id).seats] == [None, "n2/9.1"]


def test_a_match_that_begins_at_a_dead_node_meanwhile_is_not_forgotten(
    client: redis.Redis, store: MatchStore, registry: Registry, begun: Callable[..., Match]
) -> None:
    """Its tickets were taken after the sweep had looked for them, and before it dropped them."""
    late: list[Match] = []

    class Queue(Queues):
        def drop_node(self, node: str) -> None:
            late.append(begun("numberwang", "n3/1.1", "n2/9.1", time.time()))
            super().drop_node(node)

    beats(client, n2=0, n3=30)
    Sweeper(Conductor(registry, store), Queue(client), 5.0, 1.0).sweep()
    assert [seat.place for seat in store.load(late[0].id).seats] == [None, "n2/9.1"]
