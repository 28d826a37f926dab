"""The lobby of one node over a real Valkey: who is gone leaves nothing behind."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import redis
from cluster import wait_for

from battlebot.arena.live.casual import CasualMatches, series_of
from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Found, Queues, Taken, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.arena.places import Traits
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.logs import configure_logs
from battlebot.matchmaking.lobby import HOLD_S, Lobby
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.referee.events import Left, Orphaned, Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry, discover
from battlebot.runtime.lag import Lag
from battlebot.runtime.timers import Timers
from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.login import Login


class Bot:
    """A channel to a bot that reads at once."""

    held_up = False

    def __init__(self) -> None:
        self.told: list[str] = []
        self.closed: list[Closing] = []

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.told.append(text)

    def close(self, reason: Closing) -> None:
        self.closed.append(reason)


@pytest.fixture
def lobby(client: redis.Redis, settings: Settings) -> Lobby:
    """Of the node n1, outside contests."""
    return lobby_of("n1", client, settings)


def lobby_of(node: str, client: redis.Redis, settings: Settings) -> Lobby:
    """The lobby of a node, outside contests."""
    registry, store = discover(), MatchStore(client)
    arena = Arena(Conductor(registry, store, node), Timers(), lambda player: None)
    nowhere: Any = None
    casual = CasualMatches(settings, store, lambda bots: {}, lambda match_id: None, lambda: 1000.0)
    return Lobby(
        registry,
        settings,
        store,
        Queues(client),
        Heartbeats(client),
        nowhere,
        casual,
        lambda *_: None,
        lambda: 1000.0,
        arena,
    )


def test_who_is_gone_while_the_clock_ticks_leaves_no_ticket(lobby: Lobby) -> None:
    """Between the end of its connection and its leaving the lobby: nobody may meet it."""
    login = Login.decode(f'{{"game": "numberwang", "bot_id": "ada", "login_hash": "{"0" * 64}"}}', 8)
    player = Player(login, Bot(), "1", Lag())
    lobby.enter(player)
    assert len(lobby.queues.tickets("numberwang")) == 1
    player.gone = True
    lobby.tick()
    lobby.leave(player)
    assert lobby.queues.tickets("numberwang") == []


def comes(bot: str = "ada", connection: str = "1", game: str = "numberwang") -> Player:
    """A connection of the bot that has logged in."""
    login = Login.decode(f'{{"game": "{game}", "bot_id": "{bot}", "login_hash": "{"0" * 64}"}}', 8)
    return Player(login, Bot(), connection, Lag())


def begun_for_ada(lobby: Lobby, place: str) -> Match:
    """A match that begins for `ada`, who waits at the place, and another."""
    seats = [("bob", place.replace("/", "/9.")), ("ada", place)]
    game = lobby.registry["numberwang"]
    match = new_match(game, seats, lobby.settings, time.time())
    for bot, its_place in seats:
        lobby.queues.wait("numberwang", Ticket(its_place, bot, 1000.0), BY_A_TASK, look_for_seats=False)
    assert begin(lobby.store, game, match, "numberwang")
    return match


def left_by_ada(lobby: Lobby, number: int = 1) -> str:
    """The id of a match that begins, and whose seat `ada` leaves; not its only one, with another number."""
    place = f"n1/8.{number}"
    match = begun_for_ada(lobby, place)
    Conductor(lobby.registry, lobby.store, "n1").conduct(match, Left("ada", place, False))
    return match.id


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


def tick_before_the_next_answer(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks next what is there for it hears that after a tick, which asks for it as well."""
    wait = lobby.queues.wait

    def then_the_tick(*rest: Any, **how: bool) -> Any:
        found = wait(*rest, **how)
        monkeypatch.setattr(lobby.queues, "wait", wait)
        lobby.tick()
        return found

    monkeypatch.setattr(lobby.queues, "wait", then_the_tick)


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


def test_who_resumes_a_match_takes_over_the_seat_that_another_connection_holds(lobby: Lobby) -> None:
    """It names its match: which one it wants is known."""
    match_id, first = left_by_ada(lobby), comes(connection="1")
    lobby.enter(first)
    second = comes(connection="2")
    second.login = replace(second.login, resume=match_id)
    lobby.enter(second)
    assert (first.table, bot_of(first).closed) == (None, [closing.TAKEN_OVER])
    assert second.table is not None


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


def others(found: Found) -> tuple[Ticket, ...]:
    """Those that were taken along."""
    assert isinstance(found, Taken)
    return found.others


def named(bot: str, connection: str) -> Player:
    """A connection of a door at which a name plays one match at a time."""
    player = comes(bot, connection)
    player.traits = Traits(stays=True, boards=2)
    return player


@pytest.mark.parametrize("begins", ["before the later one waits", "after the later one plays"])
def test_a_name_whose_connections_are_taken_for_two_matches_plays_one(lobby: Lobby, begins: str) -> None:
    """The first was held for a match when the second took its place: it does not play there and elsewhere as well."""
    assert lobby.arena is not None
    first, later, cat = named("ada", "1"), named("ada", "2"), named("cat", "3")
    lobby.enter(first)
    bob = Ticket("n1/9.1~s2", "bob", 1000.0)
    (held,) = others(lobby.queues.wait("numberwang", bob, 1, strangers_first=True))
    first.gone = True
    lobby.arena.left(first, True, "taken-over")
    lobby.leave(first)

    def bob_begins() -> bool:
        seats = [(bob.bot, bob.place), (held.bot, held.place)]
        series = series_of(seats, lobby.store.next_number)
        game = lobby.registry["numberwang"]
        match = new_match(game, seats, lobby.settings, 1000.0, series=series)
        return begin(lobby.store, game, match, "numberwang", bob.text)

    if begins == "before the later one waits":
        assert bob_begins()
    lobby.enter(cat)
    lobby.enter(later)
    if begins == "after the later one plays":
        assert not bob_begins()
        # what was held is free at once
        assert lobby.queues.wait_again("numberwang", [bob]) == [(None, False, True)]
    (match_id,) = lobby.store.live_ids()
    seats = {seat.bot: seat.place for seat in lobby.store.load(match_id).seats}
    assert seats["ada"] == later.place
    assert seats.keys() == ({"ada", "bob"} if begins == "before the later one waits" else {"ada", "cat"})


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


@pytest.mark.parametrize("node", ["n1", "n2"], ids=["of this node", "of another node"])
def test_who_was_taken_by_one_that_is_gone_by_then_is_free_at_once(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch, node: str
) -> None:
    """Who hangs up in the moment in which it meets somebody keeps nobody from a match."""
    bob = Ticket(f"{node}/1.1", "bob", 1000.0)
    if node == "n1":
        lobby.enter(comes("bob"))
    else:
        lobby.queues.wait("numberwang", bob, 1)
    leaver, wait = comes("ada", "2"), lobby.queues.wait

    def then_hangs_up(*arguments: Any, **how: bool) -> Any:
        found = wait(*arguments, **how)
        monkeypatch.setattr(lobby.queues, "wait", wait)
        leaver.gone = True
        lobby.enter(comes("cat", "3"))
        return found

    monkeypatch.setattr(lobby.queues, "wait", then_hangs_up)
    lobby.enter(leaver)
    lobby.leave(leaver)
    if node == "n2":
        assert lobby.queues.wait_again("numberwang", [bob]) == [(None, False, True)]
        assert {ticket.bot for ticket in lobby.queues.tickets("numberwang")} == {"bob", "cat"}
    else:
        (match_id,) = lobby.store.live_ids()
        assert {seat.bot for seat in lobby.store.load(match_id).seats} == {"bob", "cat"}


def test_who_was_taken_at_another_node_is_told_that_it_is_free(
    lobby: Lobby, client: redis.Redis, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It meets who has come meanwhile without its own node's next look at all who wait, of which it would take two."""
    other = lobby_of("far", client, settings)
    assert other.arena is not None
    other.arena.letters["freed"] = other.on_freed
    Mailbox(client, keys.mailbox("far"), other.arena.on_mail, lambda: None).start()
    other.enter(comes("bob"))
    leaver, wait = comes("ada", "2"), lobby.queues.wait

    def then_hangs_up(*arguments: Any, **how: bool) -> Any:
        found = wait(*arguments, **how)
        monkeypatch.setattr(lobby.queues, "wait", wait)
        leaver.gone = True
        lobby.enter(comes("cat", "3"))
        return found

    monkeypatch.setattr(lobby.queues, "wait", then_hangs_up)
    lobby.enter(leaver)
    lobby.leave(leaver)
    wait_for(lobby.store.live_ids)
    (match_id,) = lobby.store.live_ids()
    assert {seat.bot for seat in lobby.store.load(match_id).seats} == {"bob", "cat"}


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


def test_of_more_than_a_tick_can_speak_of_each_has_its_turn(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis has lost the tickets of five that wait in two contests; a tick speaks of two."""
    monkeypatch.setattr("battlebot.matchmaking.lobby.MOST", 2)
    for number, contest in enumerate(["cup", "cup", "cup", "league", "league"]):
        login = {"game": "numberwang", "contest": contest, "bot_id": f"bot{number}", "login_hash": "0" * 64}
        lobby.enter(Player(Login.decode(json.dumps(login), 8), Bot(), str(number), Lag()))
    queues = [keys.queue(f"numberwang/{contest}") for contest in ("cup", "league")]
    lobby.tick()
    client.delete(*queues)
    there = []
    for _ in range(3):
        lobby.tick()
        there.append(sum(map(client.zcard, queues)))
    assert there == [2, 3, 5]


def test_no_ticket_is_marked_for_longer_than_its_match_is_there(lobby: Lobby, client: redis.Redis) -> None:
    """Of a match that it slept through, a node's bot would wait for nothing until the mark's end."""
    match = played_by_ada(lobby)
    Finished(lobby.store.client).retire([match.id])
    assert 0 < client.pexpiretime(keys.ticket("n2/8.1/ada")) <= client.pexpiretime(keys.match(match.id))


def test_who_was_left_out_while_its_node_was_late_is_taken_along_by_the_next_tick(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else need come for that, and it is not yet its turn to be looked at."""
    monkeypatch.setattr("battlebot.matchmaking.lobby.MOST", 0)
    lobby.queues.wait("numberwang", Ticket("n2/9.1", "bob", 1000.0), BY_A_TASK)
    beats(client, 1000.0)
    lobby.enter(comes())
    assert lobby.store.live_ids() == []
    client.delete(keys.NODES)
    lobby.tick()
    assert len(lobby.store.live_ids()) == 1


def played_by_ada(lobby: Lobby) -> Match:
    """A live match in which `ada` has a seat that nobody has left yet."""
    seats = [("ada", "n2/8.1"), ("bob", "n2/9.1")]
    match = new_match(lobby.registry["numberwang"], seats, lobby.settings, time.time())
    for bot, place in seats:
        lobby.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(lobby.store, lobby.registry["numberwang"], match, "numberwang")
    return match


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


def beats(client: redis.Redis, at_s: float) -> None:
    """A heartbeat of the node at which `ada` has its seat."""
    client.zadd(keys.NODES, {"n2": int(at_s * 1000)})


def test_a_bot_that_plays_at_another_connection_is_held_back_for_a_moment_only(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections of one bot are allowed; that the other one lives is known by its node's heartbeats."""
    monkeypatch.setattr("battlebot.matchmaking.lobby.MOST", 0)  # it is not yet its turn to be looked at
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


@pytest.fixture
def mailbox(lobby: Lobby, client: redis.Redis) -> Iterator[Callable[[], None]]:
    """Reads what lies in the mailbox of the node n1."""
    pubsub = client.pubsub(ignore_subscribe_messages=True)
    pubsub.subscribe(keys.mailbox("n1"))
    assert pubsub.get_message(timeout=5) is None

    def read() -> None:
        assert lobby.arena is not None
        while message := pubsub.get_message(timeout=0.5):
            lobby.arena.on_mail(message["data"])

    yield read
    pubsub.close()


def test_who_waits_is_told_the_beginning_first_though_the_tick_is_quicker(
    lobby: Lobby, mailbox: Callable[[], None]
) -> None:
    """The letters lie unread while the first mover, who has read its own, plays."""
    players = {"ada": comes("ada"), "bob": comes("bob", "2")}
    for player in players.values():
        lobby.enter(player)
    (match_id,) = lobby.store.live_ids()
    match = lobby.store.load(match_id)
    first, second = (players[seat.bot] for seat in match.seats)
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Turned(first.bot, {"n": 1}, 0.1))
    lobby.tick()
    mailbox()
    wait_for(lambda: len(bot_of(second).told) == 2, "the beginning and the turn")
    assert [json.loads(text)["match"]["version"] for text in bot_of(second).told] == [0, 1]
    assert "turn" in bot_of(second).told[1]


def test_who_waits_for_a_match_whose_letter_was_lost_is_told_by_the_next_tick(
    lobby: Lobby, mailbox: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mailbox's connection broke in that moment."""
    assert lobby.arena is not None
    players = [comes("ada"), comes("bob", "2")]
    with monkeypatch.context() as lost:
        lost.setattr(lobby.arena, "on_mail", lambda letter: None)
        for player in players:
            lobby.enter(player)
        mailbox()
    lobby.tick()
    mailbox()
    wait_for(lambda: all(player.table is not None for player in players), "their seats")
    assert [len(bot_of(player).told) for player in players] == [1, 1]


def bot_of(player: Player) -> Bot:
    """The player's channel."""
    assert isinstance(player.channel, Bot)
    return player.channel


def no_beginning(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """A game's function with a mistake."""
    raise RuntimeError("no board for these")


@pytest.mark.usefixtures("logs_as_before")
def test_a_game_that_fails_to_begin_ends_its_match_and_no_other_waits_for_it(
    client: redis.Redis, lobby: Lobby, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tick that finds its bots goes on with other games'; both are told of a draw by the server's fault, once."""
    configure_logs(Settings(log_format="json"))
    connectfour, gomoku = (lobby.registry[name] for name in ("connectfour", "gomoku"))
    broken = replace(connectfour, rules=replace(connectfour.rules, initial_state=no_beginning))
    lobby.registry = Registry({broken.name: broken, gomoku.name: gomoku})
    Mailbox(client, keys.mailbox("n1"), lobby.arena.on_mail, lambda: None).start()
    players = [comes(bot, bot, game) for game in lobby.registry for bot in (f"{game}-1", f"{game}-2")]
    for player in players:
        lobby.enter(player, may_take=False)
        lobby._look_again.add(player.place)
    lobby.tick()
    wait_for(lambda: all(player.channel.told for player in players), "the updates")  # type: ignore[attr-defined]
    begun, ended = [[json.loads(player.channel.told[0]) for player in two] for two in (players[2:], players[:2])]  # type: ignore[attr-defined]
    assert [update["state"]["complete"] for update in begun] == [False, False]
    [row] = Finished(client).read(Finished(client).ids(9))
    for player, update in zip(players[:2], ended, strict=True):
        state = update["state"]
        assert (state["complete"], state["victor"], state["reason"]) == (True, None, "error")
        assert sorted(state["players"]) == ["connectfour-1", "connectfour-2"]
        assert (update["match"]["id"], update["match"]["fault"]) == (row.match.id, "server")
        assert (player.finished_matches, player.played_matches) == (1, 0)
        assert (len(player.channel.told), player.table) == (1, None)  # type: ignore[attr-defined]
    assert row.match.verdict is not None
    assert row.match.verdict.void
    assert row.match.verdict.evidence == {"error": "RuntimeError", "event": "Begun"}
    assert row.match.id not in lobby.store.live_ids()
    [failed] = [line for line in capsys.readouterr().err.splitlines() if "match.failed" in line]
    assert "in no_beginning" in json.loads(failed)["exception"]
