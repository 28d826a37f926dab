"""Lobbies over a real Valkey, and the bots that come to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from conductors import Conductor
from nodes import arena_of
from players import login_of, player_of
from records import GAMES

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, NO_SEATS, Found, Queues, Taken, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.referee.events import Left, Turned
from battlebot.referee.match import Match, Series
from battlebot.rules.registry import Registry
from battlebot.wire.closing import Closing


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


def lobby_of(node: str, client: redis.Redis, settings: Settings, registry: Registry = GAMES) -> Lobby:
    """The lobby of a node, outside contests."""
    store = MatchStore(client)
    arena = arena_of(Conductor(registry, store, node))
    nowhere: Any = None
    casual = CasualMatches(settings, store, lambda bots: {}, lambda match_id: None, lambda: 1000.0)
    return Lobby(
        registry,
        settings,
        store,
        Queues(client),
        nowhere,
        casual,
        lambda *_: None,
        arena,
        lambda: 1000.0,
    )


def comes(bot: str = "ada", connection: str = "1", game: str = "numberwang", contest: str = "") -> Player:
    """A connection of the bot that has logged in."""
    return player_of(login_of(bot, game, contest=contest or None), Bot(), connection)


def bot_of(player: Player) -> Bot:
    """The player's channel."""
    assert isinstance(player.channel, Bot)
    return player.channel


def begun_for_ada(lobby: Lobby, place: str) -> Match:
    """A match that begins for `ada`, who waits at the place, and another."""
    seats = [("bob", place.replace("/", "/9.")), ("ada", place)]
    game = lobby.registry["numberwang"]
    match = new_match(game, seats, lobby.settings, time.time())
    for bot, its_place in seats:
        lobby.queues.wait("numberwang", Ticket(its_place, bot, 1000.0), BY_A_TASK, NO_SEATS)
    assert begin(lobby.store, game, match, "numberwang")
    return match


def left_by_ada(lobby: Lobby, number: int = 1) -> str:
    """The id of a match that begins, and whose seat `ada` leaves; not its only one, with another number."""
    place = f"n1/8.{number}"
    match = begun_for_ada(lobby, place)
    Conductor(lobby.registry, lobby.store, "n1").conduct(match, Left("ada", place, False))
    return match.id


def played_by_ada(lobby: Lobby, contest: str = "", node: str = "n2", series: Series | None = None) -> Match:
    """A live match in which `ada` has a seat that nobody has left yet, and `bob` is on turn."""
    seats, queue = [("bob", f"{node}/9.1"), ("ada", f"{node}/8.1")], keys.queue_name("numberwang", contest or None)
    game = lobby.registry["numberwang"]
    match = new_match(game, seats, lobby.settings, time.time(), contest=contest or None, series=series)
    for bot, place in seats:
        lobby.queues.wait(queue, Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(lobby.store, game, match, queue)
    return match


def ends(lobby: Lobby, match: Match, at_node: str = "") -> None:
    """The turn of `bob` that wins the match, as it stands in Redis; those at `at_node` are told by that node itself."""
    Conductor(lobby.registry, lobby.store, at_node).conduct(lobby.store.load(match.id), Turned("bob", {"n": 10}, 0.1))


def beats(client: redis.Redis, at_s: float) -> None:
    """A heartbeat of the node at which `ada` has its seat."""
    client.zadd(keys.NODES, {"n2": int(at_s * 1000)})


def others(found: Found) -> tuple[Ticket, ...]:
    """Those that were taken along."""
    assert isinstance(found, Taken)
    return found.others


def tick_before_the_next_answer(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks next what is there for it hears that after a tick, which asks for it as well."""
    wait = lobby.queues.wait

    def then_the_tick(*rest: Any, **how: bool) -> Any:
        found = wait(*rest, **how)
        monkeypatch.setattr(lobby.queues, "wait", wait)
        lobby.tick()
        return found

    monkeypatch.setattr(lobby.queues, "wait", then_the_tick)
