"""Who comes to a lobby and has an empty seat gets it, once, and waits for no other match."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from lobbies import Bot, begun_for_ada, bot_of, comes, left_by_ada, lobby_of, tick_before_the_next_answer

from battlebot.arena.live.queue import Ticket
from battlebot.config import Settings
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.wire import closing


def test_who_is_given_its_seat_back_waits_for_no_other(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tick has said meanwhile that it waits; it may not even know that it was heard."""
    left_by_ada(lobby)
    player, wait = comes(), lobby.queues.wait

    def after_the_tick(name: str, ticket: Ticket, *rest: Any, **how: bool) -> Any:
        lobby.queues.wait_again(name, [ticket])
        return wait(name, ticket, *rest, **how)

    monkeypatch.setattr(lobby.queues, "wait", after_the_tick)
    lobby.enter(player)
    assert player.table is not None
    assert lobby.queues.tickets("numberwang") == []


@pytest.mark.parametrize("seats", [1, 2], ids=["one empty seat", "two empty seats"])
def test_who_comes_back_while_the_tick_looks_for_its_seat_sits_down_once(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch, seats: int
) -> None:
    """It is told once how the match stands, and a second empty seat is left for the bot's other connection."""
    matches = [left_by_ada(lobby, number) for number in range(1, seats + 1)]
    player = comes()
    tick_before_the_next_answer(lobby, monkeypatch)
    lobby.enter(player)
    assert player.table is not None
    assert isinstance(player.channel, Bot)
    assert [json.loads(text)["match"]["id"] for text in player.channel.told] == [player.table.match_id]
    taken = [match_id for match_id in matches if sits_in(lobby, match_id)]
    assert taken == [player.table.match_id]


def sits_in(lobby: Lobby, match_id: str) -> bool:
    """Whether `ada` has a place in the match."""
    seat = lobby.store.load(match_id).seat_of("ada")
    return seat is not None and seat.place is not None


def once_before(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, first: Callable[[], None]) -> None:
    """The next call of the method does `first` before it."""
    method = getattr(where, name)

    def then(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(where, name, method)
        first()
        return method(*arguments, **named)

    monkeypatch.setattr(where, name, then)


QUICKER: dict[str, tuple[str, Callable[[Lobby], tuple[Any, str]]]] = {
    # at which node the bot's other connection comes in; before which call of the arena or the store of the first
    "at this node": ("n1", lambda lobby: (lobby.arena, "join")),
    "at another node": ("n2", lambda lobby: (lobby.arena, "join")),
    "at another node, by a moment": ("n2", lambda lobby: (lobby.store, "commit")),
}


@pytest.mark.parametrize("case", QUICKER)
@pytest.mark.parametrize("seats", [1, 2], ids=["one empty seat", "two empty seats"])
def test_of_two_connections_that_come_back_at_once_neither_takes_the_other_s_seat(
    lobby: Lobby, client: redis.Redis, settings: Settings, monkeypatch: pytest.MonkeyPatch, case: str, seats: int
) -> None:
    """Both find the same empty seats; the quicker one keeps its seat, and the other takes the next, or waits for it."""
    node, before = QUICKER[case]
    matches = [left_by_ada(lobby, number) for number in range(1, seats + 1)]
    first, second = comes(connection="1"), comes(connection="2")
    other = lobby if node == "n1" else lobby_of(node, client, settings)
    once_before(monkeypatch, *before(lobby), lambda: other.enter(second))
    lobby.enter(first)
    assert second.table is not None
    assert (bot_of(first).closed, bot_of(second).closed) == ([], [])
    if seats == 1:
        assert first.table is None
        assert [ticket for ticket in lobby.queues.tickets("numberwang") if ticket.bot == "ada"] == []
        other.arena.left(second, clean=False, how="broken")
        lobby.tick()
    assert first.table is not None
    assert seats == 1 or {first.table.match_id, second.table.match_id} == set(matches)
    assert lobby.store.load(first.table.match_id).seats[1].place == first.place


def test_who_found_its_seat_taken_waits_for_any_match(
    lobby: Lobby, client: redis.Redis, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sat there already when the other node's commit was found to have been quicker."""
    left_by_ada(lobby)
    first, other = comes(connection="1"), lobby_of("n2", client, settings)
    once_before(monkeypatch, lobby.store, "commit", lambda: other.enter(comes(connection="2")))
    lobby.enter(first)
    assert first.table is None
    match = begun_for_ada(lobby, first.place)
    lobby.arena.look_after(match.id, first)
    assert first.table is not None
    assert first.table.match_id == match.id


def test_who_left_a_match_that_nobody_can_read_any_more_waits_for_another(lobby: Lobby) -> None:
    """A node of another version has written it; the sweep will set it aside. No node has given it its seat in time."""
    lobby.store.client.hset(keys.match(left_by_ada(lobby)), "doc", b'{"id": "m"}')
    player = comes()
    lobby.enter(player)
    for now_s, waiting in (
        (1000.0, []),
        (1000.0 + lobby.settings.node_grace_s + lobby.settings.node_timeout_s, ["ada"]),
    ):
        lobby.now_s = lambda now_s=now_s: now_s
        lobby.tick()
        assert player.table is None
        assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == waiting


def test_who_resumes_a_match_takes_over_the_seat_that_another_connection_holds(lobby: Lobby) -> None:
    """It names its match: which one it wants is known."""
    match_id, first = left_by_ada(lobby), comes(connection="1")
    lobby.enter(first)
    second = comes(connection="2")
    second.login = replace(second.login, resume=match_id)
    lobby.enter(second)
    assert (first.table, bot_of(first).closed) == (None, [closing.TAKEN_OVER])
    assert second.table is not None


def test_who_waits_as_its_seat_falls_empty_is_given_it_by_the_next_tick(lobby: Lobby) -> None:
    """Its clock runs there already; the tick after that would be a second later."""
    player = comes()
    lobby.enter(player)
    match_id = left_by_ada(lobby)
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match_id
    assert lobby.queues.tickets("numberwang") == []


@pytest.mark.parametrize("another", [None, "cat"], ids=["nobody waits", "another waits"])
def test_who_is_given_a_seat_while_the_tick_asks_for_it_is_asked_for_no_more(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch, another: str | None
) -> None:
    """Two greenlets look for a seat for one player: the second finds none, and must leave it at that."""
    player, arena = comes(), lobby.arena
    assert arena is not None
    lobby.enter(player)
    match_id = left_by_ada(lobby)
    if another is not None:
        lobby.enter(comes(another, "3"), may_take=False)
    leave = lobby.queues.leave

    def while_another_sits_it_down(name: str, ticket: Ticket) -> bool:
        found = leave(name, ticket)
        if player.table is None:
            assert arena.join(player, match_id)
        return found

    monkeypatch.setattr(lobby.queues, "leave", while_another_sits_it_down)
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match_id
    assert lobby.store.live_ids() == [match_id]
    assert "ada" not in {ticket.bot for ticket in lobby.queues.tickets("numberwang")}
