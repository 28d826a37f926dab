"""A bot that comes while it plays is held back until it is clear that its other connection lives."""

from __future__ import annotations

import time

import pytest
import redis
from lobbies import beats, comes, played_by_ada, tick_before_the_next_answer

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.matchmaking.doubts import HOLD_S
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.referee.events import Left, Orphaned, Turned


def test_who_comes_back_before_its_broken_connection_was_noticed_plays_on(lobby: Lobby) -> None:
    """Another node has not heard yet that it is gone: no other match may begin with it meanwhile."""
    match, player = played_by_ada(lobby), comes()
    lobby.enter(comes("cat", "3"), may_take=False)
    lobby.enter(player)
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["cat"]
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_a_bot_that_plays_at_another_connection_is_held_back_for_a_moment_only(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections of one bot are allowed; that the other one lives is known by its node's heartbeats."""
    monkeypatch.setattr("battlebot.matchmaking.waiters.MOST", 0)  # it is not yet its turn to be looked at
    played_by_ada(lobby)
    lobby.enter(comes())
    for at_s in (1000.0, 1000.0 + HOLD_S):
        beats(client, at_s)
        lobby.tick()
        assert lobby.queues.tickets("numberwang") == []
    beats(client, 1001.0 + HOLD_S)
    lobby.tick()
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["ada"]


def test_a_bot_is_held_back_until_its_other_connection_s_node_is_found_dead(lobby: Lobby, client: redis.Redis) -> None:
    """However long that takes: a second match would keep it from the first."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    for after_s in (1.0, 5.0, 60.0):
        lobby.now_s = lambda after_s=after_s: 1000.0 + after_s
        lobby.tick()
        assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "").conduct(match, Orphaned("ada", "n2/8.1", "node-dead"))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_a_node_that_stood_still_may_notice_that_a_bot_is_gone_after_its_first_heartbeat(
    lobby: Lobby, client: redis.Redis
) -> None:
    """It beats, and reads what lies there, in any order."""
    match, player = played_by_ada(lobby), comes()
    lobby.enter(player)
    beats(client, 1006.0)
    lobby.tick()
    assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_who_has_just_played_is_not_held_back(lobby: Lobby) -> None:
    """Clients of protocol 1 come back by a new connection for each match of a contest."""
    match = played_by_ada(lobby)
    turn = Turned(
        match.state["nextPlayer"], {"n": 10 if match.state["nextPlayer"] == match.state["players"][0] else -10}, 0.1
    )
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, turn)
    assert lobby.store.live_ids() == []
    lobby.enter(comes())
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["ada"]


def test_who_is_held_back_while_the_tick_says_who_waits_waits_for_no_other(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick knows it already, and not yet that it plays: another match would keep it from its seat."""
    played_by_ada(lobby)
    tick_before_the_next_answer(lobby, monkeypatch)
    lobby.enter(comes())
    assert lobby.queues.tickets("numberwang") == []


def test_who_has_an_empty_seat_in_a_contest_is_held_back_from_others_outside_of_it_all_the_same(lobby: Lobby) -> None:
    """It is no seat for the one who comes, whose own may be about to be found empty."""
    contest, queue = "autumn", keys.queue_name("numberwang", "autumn")
    seats = [("ada", "n2/1.1"), ("bob", "n2/2.1")]
    elsewhere = new_match(lobby.registry["numberwang"], seats, lobby.settings, time.time(), contest)
    for bot, place in seats:
        lobby.queues.wait(queue, Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(lobby.store, lobby.registry["numberwang"], elsewhere, queue)
    match, player = played_by_ada(lobby), comes()
    Conductor(lobby.registry, lobby.store, "n2").conduct(elsewhere, Left("ada", "n2/1.1", False))
    lobby.enter(player)
    assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id
