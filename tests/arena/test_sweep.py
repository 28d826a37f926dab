"""Which nodes the sweep takes for dead."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis
from cluster import wait_for

from battlebot.arena import keys
from battlebot.arena.conduct import Conductor
from battlebot.arena.leases import Leases
from battlebot.arena.making import STATELESS_PLACE, begin, new_match
from battlebot.arena.scripts import Scripts
from battlebot.arena.store import MatchStore
from battlebot.arena.sweep import Sweeper
from battlebot.config import Settings
from battlebot.matchmaking.queue import Queues
from battlebot.referee.events import Left
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


def test_stateless_bots_are_asked_again_and_at_last_given_up(
    client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings
) -> None:
    """No node holds their seats, and none is taken for dead; without any worker the match is the server's fault."""
    game, asked, now = registry["numberwang"], list[str](), [1000.0]
    seats = [(bot, STATELESS_PLACE) for bot in "ab"]
    match = new_match(game, seats, settings, now[0], addresses=dict.fromkeys("ab", "http://bots.example/"))
    assert begin(store, game, match, game.name)
    conductor = Conductor(registry, store, now_s=lambda: now[0])
    sweeper = Sweeper(client, conductor, Queues(client), 5.0, 1.0, asked.append)
    while (live := store.load(match.id)).verdict is None:
        assert all(seat.place == STATELESS_PLACE for seat in live.seats)
        now[0] += 60.0
        sweeper.sweep()
    assert asked == [match.id] * 6
    assert live.verdict.fault == "server"


def test_a_worker_that_died_while_it_asked_is_followed_by_another(
    sweeper: Sweeper, store: MatchStore, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as its lease has run out; where no worker takes it up, now and then."""
    asked: list[str] = []
    monkeypatch.setattr(sweeper, "_ask_bots", asked.append)
    assert Leases(Scripts(client)).take("m") is not None
    sweeper.sweep()
    assert asked == []
    client.zadd(keys.ASKING, {"m": 1})
    sweeper.sweep()
    sweeper.sweep()
    assert asked == ["m"]
    client.zadd(keys.ASKING, {"m": 1})
    sweeper.sweep()
    assert asked == ["m", "m"]


PASTS: dict[str, tuple[str | None, bool]] = {
    # when the sweep before this one was, since when none was late, if that one was: seconds ago; whether absence counts
    "the first sweep": (None, False),
    "sweeps as they should be": ("1 10 0", True),
    "after a gap": ("6 60 0", False),
    "a second after a gap": ("1 1 1", False),
    "a while after a gap": ("1 3 0", True),
    "sweeps that are always late": ("4 8 1", True),
}


@pytest.mark.parametrize("past", PASTS)
def test_who_is_absent_when_redis_comes_back_has_a_moment_to_sit_down(
    sweeper: Sweeper,
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    past: str,
) -> None:
    """It may have been back in time, and nobody could note it: the sweep must not be quicker than its node."""
    seconds_ago, counts = PASTS[past]
    match = begun("numberwang", now_s=time.time() - 60)
    left = Conductor(registry, store, now_s=lambda: time.time() - 60)
    left.conduct(match, Left("ada", "n1/1.1", False))
    now_s = time.time()
    client.zadd(keys.NODES, {"n1": now_s * 1000, "n2": now_s * 1000})
    if seconds_ago is not None:
        last, since, late = map(float, seconds_ago.split())
        client.set(keys.SWEPT, f"{now_s - last} {now_s - since} {late}")
    sweeper.sweep()
    verdict = store.load(match.id).verdict
    assert (verdict is not None) is counts
    if verdict is not None:
        assert (verdict.victor, verdict.reason) == ("bob", "disconnect")


def test_sweeps_that_come_in_time_again_take_up_what_was_left(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """Nobody is forgotten for good."""
    match = begun("numberwang", now_s=time.time() - 60)
    Conductor(registry, store, now_s=lambda: time.time() - 60).conduct(match, Left("ada", "n1/1.1", False))
    client.zadd(keys.NODES, {"n1": time.time() * 1000, "n2": time.time() * 1000})
    sweeps = 0

    def is_over() -> bool:
        nonlocal sweeps
        client.zadd(keys.NODES, {"n1": time.time() * 1000, "n2": time.time() * 1000})
        sweeper.sweep()
        sweeps += 1
        return store.load(match.id).verdict is not None

    wait_for(is_over, "the absent one's end")
    assert sweeps > 1
