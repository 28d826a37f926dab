"""Which nodes the sweep takes for dead."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of

from battlebot.arena.live.heartbeats import SHUT_S, Heartbeats
from battlebot.arena.live.mail import nudge
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.steadiness import Steadiness
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.sweep import Sweeper
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.referee.events import Joined, Left, Orphaned, Overdue
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry


@pytest.fixture
def sweeper(client: redis.Redis, store: MatchStore, registry: Registry) -> Sweeper:
    """It takes a node for dead after five seconds of silence."""
    return Sweeper(Conductor(registry, store), Queues(client), 5.0, 1.0)


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


def test_a_dead_node_is_found_though_the_clock_was_set_back(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """By an hour, since the nodes were started: otherwise none would be found in that hour."""
    match, heartbeats = begun("numberwang"), Heartbeats(client)
    for seconds in (3500, 3600):
        heartbeats.send("n2", time.time() + seconds, first=False)
    assert heartbeats.since_s("web") > time.time() + 3000
    heartbeats.send("n1", time.time() - 30, first=False)
    for seconds in range(30, -1, -1):
        heartbeats.send("n2", time.time() - seconds, first=False)
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == [None, "n2/1.1"]


IN_TIME = tuple(range(10, 0, -1))  # when sweeps should have been: seconds ago

PASTS: dict[str, tuple[tuple[int, ...], float, bool]] = {
    # when the sweeps before this one were, seconds ago; for how many seconds a bot's time has been over; is it missed
    "the first sweep": ((), 4.0, False),
    "sweeps as they should be": (IN_TIME, 4.0, True),
    "its node may be about to look": (IN_TIME, 1.0, False),
    "after a stall": (IN_TIME[:5], 4.0, False),
    "after a stall, and its time was over long before": (IN_TIME[:5], 12.0, True),
}


def swept(
    client: redis.Redis, store: MatchStore, registry: Registry, now_s: float, before: tuple[int, ...] = IN_TIME
) -> None:
    """A sweep at `now_s`; those before it were so many seconds ago."""
    for seconds in before:
        Steadiness(client, 1.0).note(now_s - seconds)
    Sweeper(Conductor(registry, store, now_s=lambda: now_s), Queues(client), 5.0, 1.0).sweep()


@pytest.mark.parametrize("past", PASTS)
def test_who_is_absent_when_redis_comes_back_has_a_moment_to_sit_down(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis, past: str
) -> None:
    """It may have been back in time, and nobody could note it: the sweep must not be quicker than its node."""
    before, missed_s, is_missed = PASTS[past]
    now_s = time.time()
    match = begun("numberwang", now_s=now_s - 60)
    left_s = now_s - missed_s - match.limits.turn_timeout_s
    Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False, at_s=left_s))
    client.zadd(keys.NODES, {"n1": now_s * 1000, "n2": now_s * 1000})
    swept(client, store, registry, now_s, before)
    verdict = store.load(match.id).verdict
    assert (verdict is not None) is is_missed
    if verdict is not None:
        assert (verdict.victor, verdict.reason) == ("bob", "disconnect")


@pytest.mark.parametrize("how", [Left("ada", "n1/1.1", False), Orphaned("ada", "n1/1.1", "restart")])
@pytest.mark.parametrize(("back", "is_late"), [(None, False), (0.8, False), (1.2, True)])
def test_after_an_outage_bots_have_the_whole_grace_to_come_back(
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
    swept(client, store, registry, now_s)
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


@pytest.mark.parametrize(("opened_s", "is_missed"), [(-0.1, False), (0.1, True)])
@pytest.mark.parametrize("drains", [False, True])
def test_nobody_is_missed_whose_door_was_not_seen_open_at_the_end_of_its_time(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    opened_s: float,
    is_missed: bool,
    drains: bool,
) -> None:
    """Its only node may have died, or be unable to let it in; the door was open last so long after that end."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match, ended_s = begun("numberwang", now_s=now_s - 60), now_s - 4.0
    left_s = ended_s - match.limits.turn_timeout_s
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False)).match
    heartbeats.send("n1", ended_s + opened_s, first=True)
    if drains:
        heartbeats.send("n1", now_s, first=False, ago_s=math.inf)
    swept(client, store, registry, now_s)
    found = store.load(match.id)
    assert (found.verdict is not None) is is_missed
    if not is_missed:
        assert found.seats[0] == match.seats[0], "nor does its time move: the heartbeat may only be late"
        for second, is_over in enumerate([False, False, True]):
            heartbeats.send("n1", now_s + second, first=False, ago_s=math.inf)
            heartbeats.send("n2", now_s + second, first=False)
            swept(client, store, registry, now_s + second)
            assert (store.load(match.id).verdict is not None) is is_over, "it may be on its way in"


@pytest.mark.parametrize(("unknown_s", "is_missed"), [(3.0, False), (1.0, True)])
def test_a_node_does_not_miss_a_bot_at_the_moment_at_which_it_can_let_it_in_again(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    unknown_s: float,
    is_missed: bool,
) -> None:
    """What it knows itself counts like a heartbeat: for so long the door was shut, and the bot's time over."""
    now_s = time.time()
    match = begun("numberwang", now_s=now_s - 60)
    left_s = now_s - 0.5 - match.limits.turn_timeout_s
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False)).match
    Heartbeats(client).send("n1", now_s - unknown_s, first=False)
    node = Conductor(registry, store, "n1", now_s=lambda: now_s, open_ago_s=lambda: 0.0)
    assert (node.conduct(match, Overdue()).match.verdict is not None) is is_missed


def test_a_look_at_a_match_that_is_over_finds_nothing_to_do(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """Its node and a worker may look at once."""
    now_s = time.time()
    match, heartbeats = begun("numberwang", now_s=now_s - 60), Heartbeats(client)
    heartbeats.send("n1", now_s, first=True)
    Conductor(registry, store, now_s=lambda: now_s - 60).conduct(match, Left("ada", "n1/1.1", False))
    over = Conductor(registry, store).conduct(store.load(match.id), Overdue()).match
    assert over.verdict is not None
    assert Conductor(registry, store).conduct(over, Overdue()).match == over


def test_a_door_that_stays_shut_moves_the_time_of_who_is_absent(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis, settings: Settings
) -> None:
    """What was put off is decided then: nothing waits for ever."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match, ended_s = begun("numberwang", now_s=now_s - 60), now_s - 4.0
    left_s = ended_s - match.limits.turn_timeout_s
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False)).match
    heartbeats.send("n1", ended_s - 0.1, first=True)
    swept(client, store, registry, now_s + 2.0)
    found = store.load(match.id)
    assert (found.verdict, found.due_s) == (None, now_s + 2.0 + settings.node_grace_s)


KEPT_OUT: dict[str, tuple[list[tuple[float, float]], float]] = {
    # logins that were turned away, each when it came and when it was refused; for how long the bot is charged
    "it did not try": ([], 12.0),
    "another node did not know it": ([(4.0, 9.0)], 4.0),
    "others did not, one after another": ([(3.0, 6.0), (7.0, 10.0)], 3.0),
    "it was under way when it left here": ([(-1.0, 7.0)], 0.0),
    "before it left here": ([(-9.0, -1.0)], 12.0),
}


@pytest.mark.parametrize("case", KEPT_OUT)
def test_who_comes_back_while_an_outage_lasts_is_charged_until_it_tried(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis, case: str
) -> None:
    """Its node lived, knew it, and let it in: whatever the outage, what kept it out was only the other nodes."""
    attempts, charged_s = KEPT_OUT[case]
    now_s, heartbeats = time.time(), Heartbeats(client)
    left_s = now_s - 12.0
    match = begun("numberwang", now_s=left_s, turn_timeout_ms=20_000)
    heartbeats.send("n1", now_s - 30, first=True)
    for seconds in range(29, -1, -1):
        heartbeats.send("n1", now_s - seconds, first=False, ago_s=math.inf)
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False)).match
    conductor = Conductor(registry, store, now_s=lambda: now_s)
    tried = tuple((left_s + came_s, left_s + away_s) for came_s, away_s in attempts)
    match = conductor.conduct(match, Joined("ada", "n1/2.1", now_s, tried=tried)).match
    assert match.seats[0].remaining_s == pytest.approx(match.limits.turn_timeout_s - charged_s, abs=0.01)


def test_each_door_has_outages_of_its_own(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
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
    swept(client, store, registry, now_s)
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
    shown = heartbeats.shown("tcp", time.time())
    assert (shown.outages, shown.hung_s) == ([], 0.0)


def test_a_node_whose_process_has_ended_is_dead_at_once(
    sweeper: Sweeper, begun: Callable[..., Match], store: MatchStore, client: redis.Redis
) -> None:
    """Also if all nodes were silent a moment ago, as its own has just been restarted. Nothing is noted of others."""
    match, heartbeats = begun("numberwang", bob="n2/1.1", now_s=time.time()), Heartbeats(client)
    heartbeats.send("n1", time.time() - 30, first=True)
    for node in ("n1", "n2"):
        heartbeats.send(node, time.time(), first=True)
    sweeper.sweep()
    assert store.load(match.id) == match
    heartbeats.end(["n2", "n3"])
    sweeper.sweep()
    assert [seat.place for seat in store.load(match.id).seats] == ["n1/1.1", None]
    assert heartbeats.all().keys() == {"n1"}
    heartbeats.end(["n2"])
    assert heartbeats.all().keys() == {"n1"}


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
    Sweeper(Conductor(registry, store), Stalling(client), 5.0, 1.0).sweep()
    assert store.load(match.id) == match


def test_a_sweep_that_stalls_misses_nobody_whose_time_ended_meanwhile(
    client: redis.Redis, begun: Callable[..., Match], store: MatchStore, registry: Registry
) -> None:
    """Redis hung, perhaps, so that the bot could not sit down: the next sweep knows that it is late."""
    stalled_s, heartbeats, began_s = 0.0, Heartbeats(client), time.time()

    class Stalling(Queues):
        def drop_node(self, node: str) -> None:
            nonlocal stalled_s
            stalled_s = 4.0
            super().drop_node(node)

    match = begun("numberwang", now_s=began_s - 60)
    left_s = began_s + 1.0 - match.limits.turn_timeout_s
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False)).match
    for seconds in range(30, -1, -1):
        for node in ("n2", "n3.tcp"):
            heartbeats.send(node, began_s - seconds, first=False)
    heartbeats.send("dead.tcp", began_s - 30, first=False)
    for seconds in IN_TIME:
        Steadiness(client, 1.0).note(began_s - seconds)
    Sweeper(Conductor(registry, store, now_s=lambda: began_s + stalled_s), Stalling(client), 5.0, 1.0).sweep()
    assert stalled_s > 0
    assert store.load(match.id) == match


@pytest.mark.parametrize(
    ("silent", "how", "hangs"),
    [
        ("n3", "silent", True),
        ("n3.tcp", "of another door", False),
        ("n3", "ended", False),
        ("n3", "stopped", False),
        ("n3", "no other node lived", False),
    ],
)
def test_a_node_that_is_found_dead_may_only_hang(
    sweeper: Sweeper, client: redis.Redis, store: MatchStore, registry: Registry, silent: str, how: str, hangs: bool
) -> None:
    """The balancer does not know, and sends bots there. A node that stops has refused them before."""
    now_s, heartbeats, outage = time.time(), Heartbeats(client), how == "no other node lived"
    heartbeats.send(silent, now_s - 20, first=False)
    if how == "ended":
        heartbeats.end([silent])
    if how == "stopped":
        arena_of(Conductor(registry, store, silent)).drain()
        wait_for(lambda: heartbeats.is_shut(silent), "the word that it stops")
    for seconds in range(10 if outage else 20, -1, -1):
        for node in ("n1", "n4.tcp"):
            heartbeats.send(node, now_s - seconds, first=outage and seconds == 10)
    sweeper.sweep()
    assert client.zscore(keys.NODES, silent) is None
    assert (heartbeats.shown("web", now_s).hung_s > now_s - 1) is hangs


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
