"""Which nodes the sweep takes for dead."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis
from cluster import wait_for

from battlebot.arena import keys
from battlebot.arena.conduct import Conductor
from battlebot.arena.heartbeats import MOST_OUTAGES, SHUT_S, Heartbeats
from battlebot.arena.leases import Leases
from battlebot.arena.mail import nudge
from battlebot.arena.making import STATELESS_PLACE, begin, new_match
from battlebot.arena.scripts import Scripts
from battlebot.arena.store import MatchStore
from battlebot.arena.sweep import LOOK_S, TASK_S, Sweeper
from battlebot.arena.tasklists import TaskLists
from battlebot.config import Settings
from battlebot.matchmaking.queue import Queues
from battlebot.referee.events import Joined, Left, Orphaned, Outage
from battlebot.referee.match import Match
from battlebot.referee.step import MAX_NUDGES
from battlebot.rules.registry import Registry


@pytest.fixture
def sweeper(client: redis.Redis, store: MatchStore, registry: Registry) -> Sweeper:
    """It takes a node for dead after five seconds of silence."""
    return Sweeper(client, Conductor(registry, store), Queues(client), 5.0, 1.0)


def test_after_a_gap_nobody_is_taken_for_dead(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """Redis was away, and nobody could beat: seats stay, and no look counts in vain until nodes have had their turn."""
    match, heartbeats = begun("numberwang", now_s=time.time() - 60), Heartbeats(client)
    for node in ("n1", "n2"):
        heartbeats.send(node, time.time() - 30, first=False)
    sweeper.sweep()
    assert store.load(match.id) == match, "all are silent"
    heartbeats.send("n2", time.time(), first=False)
    sweeper.sweep()
    assert store.load(match.id) == match, "n1 may be about to beat"
    wait_for(lambda: sweeper.sweep() and client.zscore(keys.NODES, "n1") is None, "the dead node to be found")
    heartbeats.send("n2", time.time(), first=False)
    assert [seat.place for seat in store.load(match.id).seats] == [None, "n2/1.1"]


def test_a_dead_node_is_found_though_sweeps_are_slow(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """However long ago the last one was: other nodes have lived meanwhile."""
    match, heartbeats = begun("numberwang"), Heartbeats(client)
    heartbeats.send("n1", time.time() - 30, first=False)
    for seconds in range(30, -1, -1):
        heartbeats.send("n2", time.time() - seconds, first=False)
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == [None, "n2/1.1"]


class Waiting:
    """A match that began at 1000, whose two stateless bots nobody has asked yet, and the sweeps that look after it."""

    def __init__(self, client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings) -> None:
        game = registry["numberwang"]
        seats = [(bot, STATELESS_PLACE) for bot in "ab"]
        match = new_match(game, seats, settings, 1000.0, addresses=dict.fromkeys("ab", "http://bots.example/"))
        assert begin(store, game, match, game.name)
        self.id, self.asked = match.id, list[str]()
        self._store, self._now_s = store, 1000.0
        conductor = Conductor(registry, store, now_s=lambda: self._now_s)
        self._sweeper = Sweeper(client, conductor, Queues(client), 5.0, 1.0, self.asked.append)

    def look(self, later_s: float) -> Match:
        """The match after a sweep that is so much later than the last."""
        self._now_s += later_s
        self._sweeper.sweep()
        return self._store.load(self.id)


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
    assert 900 / (TASK_S + LOOK_S + 2) <= len(waiting.asked) <= 1000 / TASK_S + 1


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
    assert waiting.asked == []
    client.delete(keys.asking(waiting.id))
    assert waiting.look(20.0).nudges == 1
    assert waiting.asked == [waiting.id]


def test_a_match_that_waits_for_a_connected_bot_is_nudged(
    begun: Callable[..., Match], client: redis.Redis, store: MatchStore, registry: Registry
) -> None:
    """Its node may have lost a letter, whatever workers do."""
    match, now = begun("numberwang", now_s=1000.0), [1000.0]
    client.zadd(keys.NODES, {"n1": time.time() * 1000, "n2": time.time() * 1000})
    client.set(keys.sent_for(match.id), 1000.0)
    sweeper = Sweeper(client, Conductor(registry, store, now_s=lambda: now[0]), Queues(client), 5.0, 1.0)
    for looks in (1, 2, 3):
        now[0] += 60.0
        sweeper.sweep()
        assert store.load(match.id).nudges == looks


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


PASTS: dict[str, tuple[str | None, float, bool]] = {
    # when the sweep before this one was, since when none was late, if that one was: seconds ago; for how many seconds
    # the bot has been missed; whether absence counts
    "the first sweep": (None, 4.0, False),
    "sweeps as they should be": ("1 10 0", 4.0, True),
    "its node may be about to look": ("1 10 0", 1.0, False),
    "after a gap": ("6 60 0", 4.0, False),
    "a second after a gap": ("1 1 1", 4.0, False),
    "a while after a gap": ("1 3 0", 4.0, True),
    "sweeps that are always late": ("4 8 1", 4.0, True),
    "sweeps that are late now and then": ("4 8 0", 12.0, True),
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
    seconds_ago, missed_s, counts = PASTS[past]
    match = begun("numberwang", now_s=time.time() - 60)
    left_s = time.time() - missed_s - match.limits.turn_timeout_s
    Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False, at_s=left_s))
    now_s = time.time()
    client.zadd(keys.NODES, {"n1": now_s * 1000, "n2": now_s * 1000})
    if seconds_ago is not None:
        last, since, late = map(float, seconds_ago.split())
        client.set(keys.SWEEPS, f"{now_s - last} {now_s - since} {late}")
    sweeper.sweep()
    verdict = store.load(match.id).verdict
    assert (verdict is not None) is counts
    if verdict is not None:
        assert (verdict.victor, verdict.reason) == ("bob", "disconnect")


@pytest.mark.parametrize("how", [Left("ada", "n1/1.1", False), Orphaned("ada", "n1/1.1", "restart")])
@pytest.mark.parametrize(("back", "is_late"), [(None, False), (0.8, False), (1.2, True)])
def test_after_an_outage_bots_have_the_whole_grace_to_come_back(
    sweeper: Sweeper,
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    settings: Settings,
    how: Left | Orphaned,
    back: float | None,
    is_late: bool,
) -> None:
    """While no node lived nobody could let them in. `back`: since when one does, in graces; None: none does."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match = begun("numberwang", now_s=now_s - 600)
    heartbeats.send("n1", now_s - 600, first=True)
    Conductor(registry, store, now_s=lambda: now_s - 600).conduct(match, how)
    if back is not None:
        back_s = now_s - back * settings.node_grace_s
        heartbeats.send("n3", back_s, first=True)
        for at_s in (back_s + second for second in range(int(now_s - back_s) + 1)):
            for node in ("n2", "n3"):
                heartbeats.send(node, at_s, first=False)
    client.set(keys.SWEEPS, f"{now_s - 0.5} {now_s - 100} 0")
    sweeper.sweep()
    verdict = store.load(match.id).verdict
    assert (verdict is not None) is is_late
    assert verdict is None or verdict.void is isinstance(how, Orphaned)


def test_who_comes_back_after_an_outage_is_not_charged_for_it(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """It left on its turn, just before."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match = begun("numberwang", now_s=now_s - 60)
    left = Conductor(registry, store, now_s=lambda: now_s - 60).conduct(match, Left("ada", "n1/1.1", False, 1.0))
    heartbeats.send("n1", now_s - 60, first=True)
    heartbeats.send("n3", now_s - 1, first=True)
    match = Conductor(registry, store).conduct(left.match, Joined("ada", "n3/1.1")).match
    assert match.seats[0].remaining_s == match.limits.turn_timeout_s - 1.0


def test_each_door_has_outages_of_its_own(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """That the TCP door is open is of no use to a bot of the other: that one is not missed, a TCP player is."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match = begun("numberwang", bob="n2.tcp/1.1", now_s=now_s - 60)
    heartbeats.send("n1", now_s - 60, first=True)
    for seconds in range(60, -1, -1):
        heartbeats.send("n3.tcp", now_s - seconds, first=False)
    conductor = Conductor(registry, store, now_s=lambda: now_s - 50)
    for seat in match.seats:
        assert seat.place is not None
        match = conductor.conduct(match, Orphaned(seat.bot, seat.place, "restart")).match
    client.set(keys.SWEEPS, f"{now_s - 0.5} {now_s - 100} 0")
    sweeper.sweep()
    verdict = store.load(match.id).verdict
    assert verdict is not None
    assert (verdict.void, list(verdict.evidence["emptiedBy"])) == (True, ["bob"])


def test_nodes_are_dead_only_where_others_of_their_door_live(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """While the only WebSocket node stands still, its bots sit where they are: nobody could come back meanwhile."""
    match, heartbeats = begun("numberwang", bob="n2.tcp/1.1", now_s=time.time() - 60), Heartbeats(client)
    for node in ("n1", "n2.tcp"):
        heartbeats.send(node, time.time() - 30, first=False)
    for seconds in range(30, -1, -1):
        heartbeats.send("n3.tcp", time.time() - seconds, first=False)
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == ["n1/1.1", None]


def test_a_door_that_nobody_opens_again_is_not_waited_for(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """The operator wants it no more: its bots have their grace, and then the match is void."""
    match, heartbeats = begun("numberwang", bob="n2.tcp/1.1", now_s=time.time(), node_grace_s=0.1), Heartbeats(client)
    heartbeats.send("n2.tcp", time.time() - SHUT_S - 10.0, first=True)
    heartbeats.send("n1", time.time(), first=True)
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == ["n1/1.1", None]
    assert heartbeats.outages("tcp", time.time()) == []


def test_a_node_that_begins_while_a_sweep_stalls_is_not_dead(
    client: redis.Redis, begun: Callable[..., Match], store: MatchStore, registry: Registry
) -> None:
    """The sweep has found another one dead, and its process stood still before it emptied the seats."""
    heartbeats = Heartbeats(client)

    class Stalling(Queues):
        def drop_node(self, node: str) -> None:
            heartbeats.send("n1", time.time(), first=True)
            super().drop_node(node)

    for seconds in range(30, -1, -1):
        heartbeats.send("n2", time.time() - seconds, first=False)
    heartbeats.send("dead", time.time() - 30, first=False)
    match = begun("numberwang", now_s=time.time())
    Sweeper(client, Conductor(registry, store), Stalling(client), 5.0, 1.0).sweep()
    assert store.load(match.id) == match


def test_who_is_taken_for_dead_is_told_so(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """A node that lives all the same takes its players' seats back."""
    match, heartbeats = begun("numberwang", now_s=time.time()), Heartbeats(client)
    for seconds in range(30, -1, -1):
        heartbeats.send("n2", time.time() - seconds, first=False)
    heartbeats.send("n1", time.time() - 30, first=False)
    letters = client.pubsub(ignore_subscribe_messages=True)
    letters.subscribe(keys.mailbox("n1"))
    wait_for(lambda: client.pubsub_numsub(keys.mailbox("n1"))[0][1] == 1, "the subscription")
    sweeper.sweep()
    wait_for(lambda: (letters.get_message(timeout=0.1) or {}).get("data") == nudge(match.id), "the letter")
    letters.close()


def test_a_short_time_without_a_node_is_an_outage_only_before_a_nodes_first_heartbeat(client: redis.Redis) -> None:
    """Heartbeats that are late, on a slow server, must not keep the absent from being missed."""
    heartbeats = Heartbeats(client)
    assert heartbeats.send("n1", 100.0, first=True)
    assert not heartbeats.send("n1", 104.5, first=False)
    heartbeats.send("n2", 106.0, first=True)
    assert heartbeats.outages("web", 110.5) == []
    assert heartbeats.outages("web", 111.5) == [Outage(106.0, 111.5)], "it lasts"
    assert heartbeats.send("n3", 109.5, first=True)
    heartbeats.send("n2", 116.0, first=False)
    assert heartbeats.outages("web", 116.5) == [Outage(106.0, 109.5), Outage(109.5, 116.0)]
    heartbeats.send("n1", 112.0, first=False)
    heartbeats.send("n2", 120.5, first=False)
    assert heartbeats.outages("web", 120.5) == [Outage(106.0, 109.5), Outage(109.5, 116.0)], "a clock that is behind"


def test_a_node_that_cannot_let_bots_in_ends_no_outage(client: redis.Redis) -> None:
    """It lives, and yet who has left cannot come back."""
    heartbeats = Heartbeats(client)
    heartbeats.send("n1", 100.0, first=True)
    for second in range(101, 140):
        heartbeats.send("n2", float(second), first=True, opens=False)
    assert heartbeats.outages("web", 140.0) == [Outage(100.0, 140.0)]
    assert heartbeats.since_s("web") == 0.0, "no gap in which nobody lived"
    heartbeats.send("n2", 140.0, first=True)
    assert heartbeats.outages("web", 141.0) == [Outage(100.0, 140.0)]


def test_only_the_latest_outages_are_remembered(client: redis.Redis) -> None:
    """Of a server that is restarted again and again."""
    heartbeats = Heartbeats(client)
    for moment in range(100, 1000, 10):
        heartbeats.send("n1", float(moment), first=True)
    found = heartbeats.outages("web", 990.0)
    assert (len(found), found[-1]) == (MOST_OUTAGES, Outage(980.0, 990.0))


@pytest.mark.parametrize("how", [Left("ada", "n1/1.1", False), Orphaned("ada", "n1/1.1", "restart")])
def test_sweeps_that_come_in_time_again_take_up_what_was_left(
    sweeper: Sweeper,
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    how: Left | Orphaned,
) -> None:
    """Nobody is forgotten for good."""
    match, left_s = begun("numberwang", now_s=time.time() - 60, node_grace_s=0.5), time.time() - 7
    Conductor(registry, store, now_s=lambda: left_s).conduct(match, how)
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
