"""A node's life: its heart beats whatever its ticks wait for, over a real Valkey."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from peer import new_name
from structlog.testing import capture_logs

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.running import Node
from battlebot.errors import Unavailable
from battlebot.rules.registry import Registry
from battlebot.runtime.timers import Timers

# by which `Lives` ends them
pytestmark = pytest.mark.filterwarnings("ignore:Exception in thread (heartbeat|tick):pytest.PytestWarning")

Tick = Callable[[], None]


class Lives:
    """Starts nodes of names that no other test has. Their threads end with the test, but for those that read mail."""

    def __init__(self, client: redis.Redis, store: MatchStore, registry: Registry) -> None:
        self.heartbeats = Heartbeats(client)
        self.over, self.all_tick_no_more = threading.Event(), threading.Event()
        self._client, self._store, self._registry = client, store, registry

    def begin(self, *ticks: Tick) -> str:
        """Starts a node with these ticks; its name."""
        arena = arena_of(Conductor(self._registry, self._store, new_name("node")))
        Node(self._client, arena, Timers(), [mortal(tick, self.over) for tick in ticks]).start()
        return arena.node

    def beats_on(self, node: str) -> None:
        """Its heart beats again."""
        before_s = self.heartbeats.last_s(node)
        wait_for(lambda: self.heartbeats.last_s(node) > before_s, "a heartbeat", limit_s=5.0)


def mortal(call: Callable[..., Any], over: threading.Event) -> Callable[..., Any]:
    """The call, which ends its thread once it is over."""

    def calls(*arguments: Any, **named: Any) -> Any:
        if over.is_set():
            raise SystemExit
        return call(*arguments, **named)

    return calls


@pytest.fixture
def lives(
    client: redis.Redis, store: MatchStore, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lives]:
    """Yields a maker of nodes whose seconds last a hundredth."""
    made = Lives(client, store, registry)
    monkeypatch.setattr("battlebot.arena.node.running.HEARTBEAT_S", 0.01)
    monkeypatch.setattr(Heartbeats, "send", mortal(Heartbeats.send, made.all_tick_no_more))
    before = set(threading.enumerate())
    yield made
    # without a heartbeat no tick would be called, which ends its thread
    for over, name in ((made.over, "tick"), (made.all_tick_no_more, "heartbeat")):
        over.set()
        for thread in set(threading.enumerate()) - before:
            if thread.name == name:
                thread.join(10.0)
                assert not thread.is_alive()


def test_a_tick_that_waits_does_not_silence_the_heart(lives: Lives) -> None:
    """For a MongoDB that hangs, say: the node's players play on, and it must not be taken for dead under them."""
    waits = threading.Event()

    def tick() -> None:
        waits.set()
        assert lives.over.wait(30.0)

    node = lives.begin(tick)
    assert waits.wait(10.0)
    lives.beats_on(node)


def test_ticks_do_not_wait_for_one_another(lives: Lives) -> None:
    """Nor does one that fails keep another from being called."""
    waits, fails, goes_on = threading.Event(), threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        waits.set()
        assert lives.over.wait(30.0)

    def fail() -> None:
        fails.set()
        raise Unavailable("away")

    lives.begin(wait, fail, goes_on.release)
    assert waits.wait(10.0)
    assert fails.wait(10.0)
    for _ in range(3):
        assert goes_on.acquire(timeout=10.0)


def test_a_node_whose_tick_hangs_for_long_is_taken_for_dead(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its players have the grace period to go elsewhere. If the tick ends all the same, the node lives again."""
    monkeypatch.setattr("battlebot.arena.node.running.HANGS_S", 0.05)
    ends = threading.Event()

    def tick() -> None:
        assert ends.wait(30.0)

    with capture_logs() as logs:
        node = lives.begin(tick)
        missed = lambda: sum(line["event"] == "node.heartbeat_missed" for line in logs)  # noqa: E731
        wait_for(missed, "a heartbeat left out")
        last_s, already = lives.heartbeats.last_s(node), missed()
        wait_for(lambda: missed() > already + 3, "more that are left out")
        assert lives.heartbeats.last_s(node) == last_s
        ends.set()
        lives.beats_on(node)


def test_a_node_whose_heart_does_not_beat_does_not_tick(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been taken for dead: the tickets that its tick put into queues would be anybody's, and stay there."""
    monkeypatch.setattr("battlebot.arena.node.running.LIVES_S", 0.1)
    away, send, ticks = threading.Event(), Heartbeats.send, threading.Semaphore(0)

    def send_if_redis_answers(*arguments: Any) -> bool:
        if away.is_set():
            raise Unavailable("away")
        return send(*arguments)

    monkeypatch.setattr(Heartbeats, "send", send_if_redis_answers)
    lives.begin(ticks.release)
    assert ticks.acquire(timeout=10.0)
    away.set()
    wait_for(lambda: not ticks.acquire(timeout=0.5), "the last tick")
    away.clear()
    assert ticks.acquire(timeout=10.0)


def test_a_node_that_starts_while_redis_takes_no_writes_has_one_reader(
    lives: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be subscribed to at once; two readers of one connection would take each other's letters."""
    refused, send = [Unavailable("read only"), Unavailable("read only")], Heartbeats.send

    def send_in_the_end(*arguments: Any) -> bool:
        if refused:
            raise refused.pop()
        return send(*arguments)

    def readers() -> int:
        return [thread.name for thread in threading.enumerate()].count("mailbox")

    monkeypatch.setattr(Heartbeats, "send", send_in_the_end)
    before = readers()
    lives.beats_on(lives.begin())
    assert readers() == before + 1
