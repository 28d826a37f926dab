"""A match in which a node has died, perhaps of the game's code: the same event does not kill one node after another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import redis
from cluster import LIMIT_S, wait_for
from conductors import Conductor
from nodes import arena_of
from players import login_of, player_of

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.turns import is_usual
from battlebot.redisio import keys
from battlebot.referee.events import NODE_DEAD, Event, Failed, Joined, Orphaned, Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry

LEGAL = Turned("ada", {"mark": "X", "space": [1, 1]}, 0.5)
NOW_S = 1001.0


class Silent:
    """A channel to a bot that never reads."""

    held_up = False

    def send(self, text: str, on_written: Any = None) -> None:
        """Sends nothing."""

    def close(self, reason: Any) -> None:
        """Closes nothing."""


@pytest.fixture
def wary(begun: Callable[..., Match], store: MatchStore, registry: Registry) -> Match:
    """Returns a match whose bot on turn is back from a node that died."""
    conductor = Conductor(registry, store, "n3", now_s=lambda: NOW_S)
    match = conductor.conduct(begun(), Orphaned("ada", "n1/1.1", NODE_DEAD)).match
    return conductor.conduct(match, Joined("ada", "n3/1.1")).match


def test_a_turn_is_nothing_special_until_a_node_has_died(begun: Callable[..., Match], wary: Match) -> None:
    """The quick way of a turn is for usual matches."""
    assert not is_usual(wary)
    assert is_usual(begun(ada="n1/2.1", bob="n2/2.1"))


def test_the_next_turn_goes_as_any(wary: Match, store: MatchStore, registry: Registry, client: redis.Redis) -> None:
    """After it the match is a usual one; nothing is left in Redis."""
    after = Conductor(registry, store, "n3", now_s=lambda: NOW_S).conduct(wary, LEGAL).match
    assert (after.verdict, after.version, after.wary) == (None, 1, False)
    assert not client.exists(keys.tried(wary.id))


def test_an_invalid_turn_may_be_made_again(wary: Match, store: MatchStore, registry: Registry) -> None:
    """It has been answered: nobody died of it."""
    invalid = Turned("ada", {"mark": "?"}, 0.5)
    match = Conductor(registry, store, "n3", now_s=lambda: NOW_S).conduct(wary, invalid).match
    match = Conductor(registry, store, "n3", now_s=lambda: NOW_S + 1).conduct(match, invalid).match
    assert (match.verdict, match.seats[0].strikes) == (None, 2)


@pytest.mark.parametrize("event", [LEGAL, Joined("ada", "n4/1.1")], ids=["a turn", "a bot that comes back"])
def test_what_a_second_node_died_of_ends_the_match(
    wary: Match, store: MatchStore, registry: Registry, client: redis.Redis, event: Event
) -> None:
    """By an error of the game, and without asking the game again; if nobody comes, it is forgotten some day."""
    assert store.begin_try(wary.id, "n3") is None
    assert client.ttl(keys.tried(wary.id)) > 0
    match = Conductor(registry, store, "n4", now_s=lambda: NOW_S).conduct(wary, event).match
    assert match.verdict is not None
    assert (match.verdict.void, match.version) == (True, 0)
    assert "more than once" in match.verdict.evidence["error"]


@pytest.mark.parametrize("node", ["n3", "n4"])
def test_two_nodes_at_once_do_not_end_it(
    wary: Match, store: MatchStore, registry: Registry, client: redis.Redis, node: str
) -> None:
    """What a node that lives has begun may still be answered; so may what this node could not take back."""
    store.begin_try(wary.id, node)
    Heartbeats(client).send("n3", NOW_S, first=False)
    with client.pubsub() as subscription:
        subscription.subscribe(keys.mailbox("n3"))
        assert subscription.get_message(timeout=5.0)
        match = Conductor(registry, store, "n4", now_s=lambda: NOW_S).conduct(wary, LEGAL).match
    assert (match.verdict, match.version) == (None, 1)


def test_what_a_node_could_not_take_back_it_takes_back_when_its_bot_sits_down(
    wary: Match, store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """It has not died of it; another node would think so when it is shut down."""
    store.begin_try(wary.id, "n4")
    Conductor(registry, store, "n4", now_s=lambda: NOW_S).conduct(wary, Joined("ada", "n4/1.1"))
    assert not client.exists(keys.tried(wary.id))


def test_who_comes_back_to_a_node_that_dies_of_the_crowd_is_not_blamed(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """After a node's death all its bots come to another, which may be too much for that one."""
    conductor = Conductor(registry, store, "n3", now_s=lambda: NOW_S)
    match = conductor.conduct(begun(), Orphaned("ada", "n1/1.1", NODE_DEAD)).match
    noted = []

    def view(state: dict[str, Any], player: str | None) -> dict[str, Any]:
        noted.append(client.exists(keys.tried(match.id)))
        return state

    game = registry[match.game]
    games = Registry({match.game: replace(game, rules=replace(game.rules, view=view))})
    for event in (Joined("ada", "n3/1.1"), LEGAL):
        match = Conductor(games, store, "n3", now_s=lambda: NOW_S).conduct(match, event).match
    assert set(noted[:1]) == {0}
    assert set(noted[1:]) == {1}


def test_who_comes_back_after_the_end_is_told_it(wary: Match, store: MatchStore, registry: Registry) -> None:
    """Also if a node died at its last event, and nobody came back in time to find that out."""
    store.begin_try(wary.id, "n3")
    over = Conductor(registry, store, now_s=lambda: NOW_S).conduct(wary, Failed("absent for long")).match
    answer = Conductor(registry, store, "n4", now_s=lambda: NOW_S).conduct(over, Joined("ada", "n4/1.1"))
    assert [(update.bot, update.final) for update in answer.updates] == [("ada", True)]


def test_a_node_that_is_about_to_hear_redis_again_is_not_gone(
    wary: Match, store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """When Redis has been restarted, nobody reads a mailbox for a moment, though all nodes live."""
    store.begin_try(wary.id, "n3")
    Heartbeats(client).send("n3", NOW_S, first=False)
    with ThreadPoolExecutor() as pool, client.pubsub() as subscription:
        conductor = Conductor(registry, store, "n4", now_s=lambda: NOW_S)
        answer = pool.submit(conductor.conduct, wary, LEGAL)
        wait_for(lambda: client.get(keys.tried(wary.id)) != b"n3", "the second node to begin")
        subscription.subscribe(keys.mailbox("n3"))
        match = answer.result(LIMIT_S).match
    assert (match.verdict, match.version) == (None, 1)


@pytest.mark.parametrize("listens", [True, False])
def test_who_takes_its_seat_over_from_a_dead_node_has_its_whole_clock(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis, listens: bool
) -> None:
    """Its turn may be lost with the node: it must not lose by making it again. A node that lives has asked it."""
    match = begun("numberwang", ada="n2/1.1", bob="n2/1.2")
    arena = arena_of(Conductor(registry, store, "n1", now_s=lambda: NOW_S))
    Heartbeats(client).send("n2", NOW_S, first=False)
    player = player_of(login_of("ada"), Silent())
    player.new_place("n1", NOW_S)
    with client.pubsub() as subscription:
        if listens:
            subscription.subscribe(keys.mailbox("n2"))
            assert subscription.get_message(timeout=5.0)
        assert arena.join(player, match.id)
    after = store.load(match.id)
    assert (after.wary, after.seats[0].remaining_s) == ((False, 2.0) if listens else (True, 3.0))
