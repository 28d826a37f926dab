"""For which matches the sweep sends for a worker that asks their stateless bots, and which it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from conductors import Conductor

from battlebot.arena.live.leases import Leases
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.summons import LOOK_S
from battlebot.arena.live.sweep import Sweeper
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.redisio.scripts import Scripts
from battlebot.redisio.tasklists import TaskLists
from battlebot.referee.match import Match
from battlebot.referee.step import MAX_NUDGES
from battlebot.rules.registry import Registry


class Waiting:
    """A match that began at 1000, whose two stateless bots nobody has asked yet, and the sweeps that look after it."""

    def __init__(self, client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings) -> None:
        game = registry["numberwang"]
        seats = [(bot, STATELESS_PLACE) for bot in "ab"]
        match = new_match(game, seats, settings, 1000.0, addresses=dict.fromkeys("ab", "http://bots.example/"))
        assert begin(store, game, match, game.name)
        self.id, self.asked = match.id, list[str]()
        self._store, self._now_s = store, 1000.0
        conductor = Conductor(registry, store, now_s=lambda: self._now_s, ask_bots=self.asked.append)
        self._sweeper = Sweeper(conductor, Queues(client), 5.0, 1.0)

    def look(self, later_s: float) -> Match:
        """The match after a sweep that is so much later than the last."""
        self._now_s += later_s
        self._sweeper.sweep()
        return self._store.load(self.id)

    def due(self, later_s: float) -> bool:
        """Whether a sweep that is so much later than the last would look at the match."""
        return self.id in self._store.overdue_ids(self._now_s + later_s)


@pytest.fixture
def waiting(client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings) -> Waiting:
    """A match of stateless bots."""
    return Waiting(client, store, registry, settings)


def test_a_match_that_no_worker_takes_up_is_never_given_up(waiting: Waiting, client: redis.Redis) -> None:
    """Workers are away or busy: it is sent for again when its task has expired, and not at each look."""
    client.lpush(TaskLists(client, TaskLists.BOTS).key(3), b"{}")
    for _ in range(500):
        match = waiting.look(2.0)
        assert match.verdict is None
        assert all(seat.place == STATELESS_PLACE for seat in match.seats), "no node holds them, none is taken for dead"
    assert match.nudges == 1
    assert 900 / (TaskLists.ASKING_S + LOOK_S + 2) <= len(waiting.asked) <= 1000 / TaskLists.ASKING_S + 1


def test_a_match_whose_task_was_lost_is_soon_sent_for_again(waiting: Waiting, client: redis.Redis) -> None:
    """No task waits: a worker took it and died, or could not begin."""
    for looks in range(1, 2 * MAX_NUDGES):
        assert waiting.look(20.0).nudges == 1
        assert len(waiting.asked) == looks


def test_a_match_that_workers_take_in_vain_is_given_up(waiting: Waiting, client: redis.Redis) -> None:
    """However many other tasks wait: it is its own asking that fails."""
    leases = Leases(Scripts(client))
    client.lpush(TaskLists(client, TaskLists.BOTS).key(3), b"{}")
    for looks in range(1, MAX_NUDGES + 1):
        assert waiting.look(20.0).nudges == looks
        assert waiting.look(20.0).nudges == looks, "nobody has taken it up since"
        lease = leases.take(waiting.id)
        assert lease is not None
        leases.release(lease)
    verdict = waiting.look(20.0).verdict
    assert verdict is not None
    assert (verdict.fault, len(waiting.asked)) == ("server", MAX_NUDGES)


def test_a_match_in_which_a_worker_asks_is_left_to_it(waiting: Waiting, client: redis.Redis) -> None:
    """However long it takes: NATS may be away. Once the worker is gone, another is sent for."""
    leases = Leases(Scripts(client))
    assert leases.take(waiting.id) is not None
    for _ in range(2 * MAX_NUDGES):
        leases.renew()
        assert waiting.look(20.0).nudges == 0
        assert [waiting.due(LOOK_S - 1.0), waiting.due(LOOK_S + 1.0)] == [False, True], "not at each sweep"
    assert waiting.asked == []
    client.delete(keys.asking(waiting.id))
    assert waiting.look(20.0).nudges == 1
    assert waiting.asked == [waiting.id]


def test_a_match_that_waits_for_a_connected_bot_is_nudged(
    begun: Callable[..., Match], client: redis.Redis, store: MatchStore, registry: Registry
) -> None:
    """Its node may have lost a letter, whatever workers do."""
    match, now = begun("numberwang", now_s=1000.0), [1000.0]
    client.set(keys.sent_for(match.id), 1000.0)
    sweeper = Sweeper(Conductor(registry, store, now_s=lambda: now[0]), Queues(client), 5.0, 1.0)
    for looks in (1, 2, 3):
        now[0] += 60.0
        client.zadd(keys.NODES, {"n1": now[0] * 1000, "n2": now[0] * 1000})
        sweeper.sweep()
        assert store.load(match.id).nudges == looks


def test_a_worker_that_died_while_it_asked_is_followed_by_another(
    client: redis.Redis, store: MatchStore, registry: Registry
) -> None:
    """As soon as its lease has run out; where no worker takes it up, now and then."""
    asked: list[str] = []
    sweeper = Sweeper(Conductor(registry, store, ask_bots=asked.append), Queues(client), 5.0, 1.0)
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
    # the clock of Redis was set back meanwhile
    client.zadd(keys.ASKING, {"m": store.now_ms() + 86_400_000})
    sweeper.sweep()
    sweeper.sweep()
    assert asked == ["m", "m", "m"]
