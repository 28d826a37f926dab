"""Who stays away from a seat that the server emptied: nowhere, or elsewhere. By what Redis holds of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import redis
from conductors import Conductor

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, NO_SEATS, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.referee.events import Event, Failed, Orphaned, Overdue, Turned
from battlebot.referee.match import Match, Verdict
from battlebot.rules.registry import Registry

GAME = "numberwang"
AWAY = (None, "server")
ELSEWHERE = ("bob", "bot")


@pytest.fixture
def node(client: redis.Redis) -> Iterator[str]:
    """A node that lives: it beats, and reads its mailbox."""
    mailbox = client.pubsub()
    mailbox.subscribe(keys.mailbox("n3"))
    assert mailbox.get_message(timeout=10) is not None
    yield "n3"
    mailbox.close()


class Evening:
    """A match that ada's node left on its own, just longer ago than the grace: what she does meanwhile."""

    def __init__(self, store: MatchStore, registry: Registry, settings: Settings, match: Match, now_s: float) -> None:
        self.store, self.registry, self.settings, self.now_s = store, registry, settings, now_s
        self.left_s = now_s - settings.node_grace_s - 1.0
        self.match = self.conduct(match, Orphaned("ada", "n1/1.1", "restart"), self.left_s)

    def conduct(self, match: Match, event: Event, now_s: float) -> Match:
        """An event at this time; returns the match after it."""
        return Conductor(self.registry, self.store, now_s=lambda: now_s).conduct(match, event).match

    def waits(self, place: str, name: str = GAME) -> None:
        """Ada waits at another place."""
        Queues(self.store.client).wait(name, Ticket(place, "ada", self.now_s - 60), BY_A_TASK, NO_SEATS)

    def plays(self, place: str, began_s: float) -> Match:
        """Ada plays against cleo."""
        self.waits(place)
        seats = [("ada", place), ("cleo", "n9/1.1")]
        queue, ticket = Queues(self.store.client), Ticket("n9/1.1", "cleo", began_s)
        queue.wait(GAME, ticket, BY_A_TASK)
        match = new_match(self.registry[GAME], seats, self.settings, began_s)
        assert begin(self.store, self.registry[GAME], match, GAME)
        return match

    def verdict(self) -> tuple[str | None, str]:
        """Victor and fault when the sweep has looked."""
        verdict: Verdict | None = self.conduct(self.match, Overdue(), self.now_s).verdict
        assert verdict is not None
        return verdict.victor, verdict.fault.value


@pytest.fixture
def evening(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    settings: Settings,
    client: redis.Redis,
    node: str,
) -> Evening:
    """Returns it, at a time at which the node has just beaten."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    match = begun(GAME, now_s=now_s - 60)
    for seconds in range(60, -1, -1):
        heartbeats.send(node, now_s - seconds, first=False)
    return Evening(store, registry, settings, match, now_s)


def test_who_is_nowhere_is_not_at_fault(evening: Evening) -> None:
    """The match is void."""
    assert evening.verdict() == AWAY


def test_who_waits_in_another_queue_is_elsewhere(evening: Evening) -> None:
    """Of a contest, while its match belongs to none."""
    evening.waits("n3/5.1", f"{GAME}/cup")
    assert evening.verdict() == ELSEWHERE


def test_who_waits_where_its_seat_is_given_back_has_come_back(evening: Evening) -> None:
    """That it does not sit yet is the server's doing."""
    evening.waits("n3/5.1")
    assert evening.verdict() == AWAY


def test_who_waits_at_a_dead_node_is_nowhere(evening: Evening) -> None:
    """Its ticket is still there."""
    evening.waits("n2/5.1", f"{GAME}/cup")
    assert evening.verdict() == AWAY


@pytest.mark.parametrize(("place", "found"), [("n3/5.1", ELSEWHERE), ("n2/5.1", AWAY)])
def test_who_plays_another_match_is_elsewhere(evening: Evening, place: str, found: tuple[str | None, str]) -> None:
    """Whenever that began; not at a dead node."""
    evening.plays(place, evening.left_s - 1.0)
    assert evening.verdict() == found


@pytest.mark.parametrize(("after_s", "found"), [(1.0, ELSEWHERE), (-1.0, AWAY)])
def test_who_has_played_another_match_meanwhile_was_elsewhere(
    evening: Evening, after_s: float, found: tuple[str | None, str]
) -> None:
    """One that began when it could have been back; not one that had begun before."""
    other = evening.plays("n3/5.1", evening.left_s + after_s)
    evening.conduct(other, Turned("ada", {"n": 10}, 0.1), evening.left_s + 2.0)
    assert evening.verdict() == found


def test_who_was_sent_away_there_too_is_nowhere(evening: Evening) -> None:
    """It sat in no match when that ended."""
    other = evening.plays("n3/5.1", evening.left_s + 1.0)
    other = evening.conduct(other, Orphaned("ada", "n3/5.1", "restart"), evening.left_s + 2.0)
    evening.conduct(other, Failed("the server cannot go on"), evening.now_s)
    assert evening.verdict() == AWAY


def test_another_match_that_cannot_be_read_does_not_keep_this_one_from_its_end(
    evening: Evening, client: redis.Redis
) -> None:
    """Another version of the server has written it."""
    other = evening.plays("n3/5.1", evening.left_s + 1.0)
    client.hset(keys.match(other.id), "doc", b'{"id": "m"}')
    assert evening.verdict() == AWAY
