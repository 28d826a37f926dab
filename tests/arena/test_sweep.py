"""Which nodes the sweep takes for dead."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis

from battlebot.arena import keys
from battlebot.arena.conduct import Conductor
from battlebot.arena.store import MatchStore
from battlebot.arena.sweep import Sweeper
from battlebot.matchmaking.queue import Queues
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry


@pytest.fixture
def sweeper(client: redis.Redis, store: MatchStore, registry: Registry) -> Sweeper:
    """It takes a node for dead after five seconds of silence."""
    return Sweeper(client, Conductor(registry, store), Queues(client), 5.0, 1.0)


def test_after_a_gap_nobody_is_taken_for_dead(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """Redis was away, and nobody could beat: a match that is overdue is nudged, its seats stay; the next sweep acts."""
    match = begun("numberwang", now_s=time.time() - 60)
    client.zadd(keys.NODES, {"n1": (time.time() - 30) * 1000, "n2": time.time() * 1000})
    sweeper.sweep()
    after = store.load(match.id)
    assert [seat.place for seat in after.seats] == ["n1/1.1", "n2/1.1"]
    assert after.nudges == 1
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == [None, "n2/1.1"]
    assert client.zscore(keys.NODES, "n1") is None
