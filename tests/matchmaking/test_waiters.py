"""Who waits is looked at in its turn; who must not wait for that, at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import redis
from lobbies import Bot, beats, bot_of, comes, left_by_ada, others

from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.arena.places import Traits
from battlebot.errors import Unavailable
from battlebot.matchmaking.lobby import Lobby
from battlebot.matchmaking.waiters import Waiters, WaitingPlayer
from battlebot.redisio import keys
from battlebot.wire import closing


def test_only_who_still_waits_is_looked_at() -> None:
    """Who is gone is kept until it leaves; who has a seat, or waits elsewhere by now, is forgotten."""
    waiters, table = Waiters(), object()
    players = [comes(bot, bot) for bot in ("here", "gone", "seated", "moved")]
    places = [player.new_place("n1", 1000.0) for player in players]
    for player in players:
        waiters.add(player)
    here, gone, seated, moved = players
    gone.gone, seated.table = True, table  # type: ignore[assignment]
    moved.new_place("n1", 1001.0)
    assert [one.player for one in waiters.in_queue("numberwang")] == [here]
    assert waiters.in_queue("connectfour") == []
    assert [one.player for one in waiters.at(["n1/9.9", *places])] == [here]
    assert [place in waiters for place in places] == [True, True, False, False]


def test_only_who_comes_by_itself_and_for_one_match_waits_with_a_limit() -> None:
    """In a contest someone new may come; a door that pairs by name cannot tell that nobody came."""
    duelist = comes()
    duelist.traits = Traits(boards=2)
    players = (comes(), comes(contest="cup"), duelist)
    assert [WaitingPlayer.of(player).patient for player in players] == [False, True, True]


def test_who_is_gone_while_the_clock_ticks_leaves_no_ticket(lobby: Lobby) -> None:
    """Between the end of its connection and its leaving the lobby: nobody may meet it."""
    player = comes()
    lobby.enter(player)
    assert len(lobby.queues.tickets("numberwang")) == 1
    player.gone = True
    lobby.tick()
    lobby.leave(player)
    assert lobby.queues.tickets("numberwang") == []


def test_who_was_held_for_a_match_that_never_began_meets_who_has_come_meanwhile(
    lobby: Lobby, client: redis.Redis
) -> None:
    """Who held its ticket is dead; nobody else need come for that."""
    lobby.enter(comes())
    taker = Ticket("n2/9.1", "bob", 1000.0)
    assert [other.bot for other in others(lobby.queues.wait("numberwang", taker, 1))] == ["ada"]
    lobby.enter(comes("cat", "2"))
    lobby.tick()
    assert lobby.store.live_ids() == []
    client.delete(*(keys.ticket(text) for text in ("n1/1.1/ada", taker.text)))  # as time does
    for _ in range(3):
        lobby.tick()
    (match_id,) = lobby.store.live_ids()
    assert {seat.bot for seat in lobby.store.load(match_id).seats} == {"ada", "cat"}


@pytest.mark.parametrize("lost", ["as it is put back", "as it looks again", "as another looks again"])
def test_who_is_put_back_while_redis_falls_silent_meets_who_waits_all_the_same(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """Its tick ends there: what it was about to do for those who wait is not forgotten."""
    lobby.enter(comes(), may_take=False)
    lobby.enter(comes("cat", "2"), may_take=False)
    client.delete(keys.queue("numberwang"))  # a Redis that has lost it
    if lost != "as it is put back":
        lobby.tick()
    real, silent = lobby.queues._scripts.run, []

    def run(*arguments: Any) -> Any:
        answer = real(*arguments) if lost == "as it is put back" else None
        if len(silent) < (2 if lost == "as another looks again" else 1):
            silent.append(answer)
            raise Unavailable("the answer was lost")
        return real(*arguments) if answer is None else answer

    monkeypatch.setattr(lobby.queues._scripts, "run", run)
    for _ in silent, silent:
        with suppress(Unavailable):
            lobby.tick()
    assert silent
    for _ in range(3):
        lobby.tick()
    assert len(lobby.store.live_ids()) == 1


@pytest.mark.parametrize("contest", ["", "cup"])
def test_who_leaves_while_it_is_put_back_leaves_no_ticket_though_redis_falls_silent(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, contest: str
) -> None:
    """A network that breaks takes both at once. Whoever met that ticket would sit before an empty seat."""
    player, queue = comes(contest=contest), keys.queue_name("numberwang", contest or None)
    lobby.enter(player)
    client.delete(keys.queue(queue))  # a Redis that has lost it
    wait_again = lobby.queues.wait_again

    def lost(*arguments: Any) -> None:
        player.gone = True
        lobby.leave(player)
        wait_again(*arguments)
        raise Unavailable("the answer was lost")

    monkeypatch.setattr(lobby.queues, "wait_again", lost)
    with pytest.raises(Unavailable):
        lobby.tick()
    monkeypatch.setattr(lobby.queues, "wait_again", wait_again)
    assert len(lobby.queues.tickets(queue)) == 1
    lobby.tick()
    assert lobby.queues.tickets(queue) == []


def test_who_has_moved_on_while_the_tick_speaks_of_others_is_not_put_back_where_it_was(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis may be slow: it has played its match and waits for the next, at another place."""
    monkeypatch.setattr("battlebot.matchmaking.lobby.CHUNK", 1)
    player, wait_again = comes(contest="cup"), lobby.queues.wait_again
    lobby.enter(comes("cat", "2", contest="cup"))
    lobby.enter(player)
    client.delete(keys.queue("numberwang/cup"))  # a Redis that has lost them

    def slow(*arguments: Any) -> Any:
        monkeypatch.setattr(lobby.queues, "wait_again", wait_again)
        lobby.enter(player)
        return wait_again(*arguments)

    monkeypatch.setattr(lobby.queues, "wait_again", slow)
    lobby.tick()
    assert {ticket.place for ticket in lobby.queues.tickets("numberwang/cup")} == {"n1/2.1", player.place}


def test_of_more_than_a_tick_can_speak_of_each_has_its_turn(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis has lost the tickets of five that wait in two contests; a tick speaks of two."""
    monkeypatch.setattr("battlebot.matchmaking.waiters.MOST", 2)
    for number, contest in enumerate(["cup", "cup", "cup", "league", "league"]):
        lobby.enter(comes(f"bot{number}", str(number), contest=contest))
    queues = [keys.queue(f"numberwang/{contest}") for contest in ("cup", "league")]
    lobby.tick()
    client.delete(*queues)
    there = []
    for _ in range(3):
        lobby.tick()
        there.append(sum(map(client.zcard, queues)))
    assert there == [2, 3, 5]


def test_who_was_left_out_while_its_node_was_late_is_taken_along_by_the_next_tick(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else need come for that, and it is not yet its turn to be looked at."""
    monkeypatch.setattr("battlebot.matchmaking.waiters.MOST", 0)
    lobby.queues.wait("numberwang", Ticket("n2/9.1", "bob", 1000.0), BY_A_TASK)
    beats(client, 1000.0)
    lobby.enter(comes())
    assert lobby.store.live_ids() == []
    client.delete(keys.NODES)
    lobby.tick()
    assert len(lobby.store.live_ids()) == 1


def test_who_comes_while_redis_falls_silent_looks_again_with_the_next_tick(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its door keeps it. It has a ticket already, and the lost answer said that somebody was left out."""
    lobby.queues.wait("numberwang", Ticket("n2/9.1", "bob", 1000.0), BY_A_TASK)
    beats(client, 1000.0)
    wait = lobby.queues.wait

    def lost(*rest: Any, **how: bool) -> Any:
        wait(*rest, **how)
        monkeypatch.setattr(lobby.queues, "wait", wait)
        raise Unavailable("the answer was lost")

    monkeypatch.setattr(lobby.queues, "wait", lost)
    with pytest.raises(Unavailable):
        lobby.enter(comes())
    client.delete(keys.NODES)
    lobby.tick()
    assert len(lobby.store.live_ids()) == 1


def test_who_is_found_to_have_overlooked_others_during_a_tick_looks_again_in_the_next(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis is waited for in the middle of the tick, and anything may happen meanwhile."""
    monkeypatch.setattr("battlebot.matchmaking.waiters.MOST", 0)
    lonely, other = comes(), comes("cat", "2", "connectfour")
    lobby.enter(other)
    now_s = 1001.0 + lobby.settings.waiting_timeout_s
    other.waiting_since_s = now_s
    lobby.enter(lonely)
    lobby._waiters.overlook([lonely.place])
    lobby.now_s = lambda: now_s
    leave = lobby.queues.leave

    def found_meanwhile(*arguments: Any) -> bool:
        lobby._waiters.overlook([other.place])
        return leave(*arguments)

    monkeypatch.setattr(lobby.queues, "leave", found_meanwhile)
    lobby.tick()
    assert bot_of(lonely).closed == [closing.NOBODY_CAME]
    assert lobby._waiters.overlooked() == {other.place}


@pytest.mark.parametrize("somebody", [False, True], ids=["nobody came", "somebody came this moment"])
def test_who_has_waited_too_long_is_closed_unless_somebody_has_just_come(lobby: Lobby, somebody: bool) -> None:
    """Another node makes the match: it would be lost by its bot, which the server itself has closed."""
    player = comes()
    lobby.enter(player)
    if somebody:
        assert others(lobby.queues.wait("numberwang", Ticket("n2/1.1", "cat", 2000.0), 1))
    lobby.now_s = lambda: 1001.0 + lobby.settings.waiting_timeout_s
    lobby.tick()
    assert isinstance(player.channel, Bot)
    assert player.channel.closed == ([] if somebody else [closing.NOBODY_CAME])
    assert lobby.queues.tickets("numberwang") == []


def test_who_waits_in_a_contest_is_not_closed_however_long_that_takes(lobby: Lobby) -> None:
    """It may not begin before tomorrow."""
    player = comes(contest="cup")
    lobby.enter(player)
    lobby.now_s = lambda: 1001.0 + lobby.settings.waiting_timeout_s
    lobby.tick()
    assert bot_of(player).closed == []
    assert len(lobby.queues.tickets("numberwang/cup")) == 1


def test_who_waits_no_more_does_not_look_again(lobby: Lobby) -> None:
    """Its door looks a moment later: its ticket would stay for ever."""
    player = comes()
    lobby.enter(player, may_take=False)
    lobby.leave(player)
    lobby.look_again(player)
    assert lobby.queues.tickets("numberwang") == []


def test_who_sits_down_while_the_tick_puts_its_ticket_back_waits_no_more(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be given a second match."""
    player = comes()
    lobby.enter(player)
    client.delete(keys.queue("numberwang"))  # a Redis that has lost it
    wait_again = lobby.queues.wait_again

    def sits_meanwhile(*arguments: Any) -> Any:
        answers = wait_again(*arguments)
        monkeypatch.setattr(player, "table", "a match's")
        return answers

    monkeypatch.setattr(lobby.queues, "wait_again", sits_meanwhile)
    lobby.tick()
    assert lobby.queues.tickets("numberwang") == []


def test_who_is_taken_along_while_it_hears_of_its_empty_seat_does_not_sit_down(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node is making a match for it, which it would miss."""
    player = comes()
    lobby.enter(player)
    left_by_ada(lobby)
    wait_again = lobby.queues.wait_again

    def taken_meanwhile(*arguments: Any) -> Any:
        answers = wait_again(*arguments)
        assert others(lobby.queues.wait("numberwang", Ticket("n2/1.1", "cat", 2000.0), 1))
        return answers

    monkeypatch.setattr(lobby.queues, "wait_again", taken_meanwhile)
    lobby.tick()
    assert player.table is None
