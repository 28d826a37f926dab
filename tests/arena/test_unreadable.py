"""Matches that a node cannot read, as another version wrote them: its players go, and nothing else of it stops."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import gevent
import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from test_arena_turns import GAME, House

from battlebot.arena.live.aside import set_aside
from battlebot.arena.live.calls import decode_match, encode_match
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.post import Post
from battlebot.config import Settings
from battlebot.errors import UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.referee.events import Turned
from battlebot.referee.match import Fault, Match
from battlebot.referee.step import step
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.wire import closing


def of_another_version(match: Match) -> bytes:
    """Returns the match as a version writes it that has changed what a field is."""
    document = json.loads(encode_match(match))
    document["limits"]["max_turns"] = "many"
    return json.dumps(document).encode()


@dataclass
class Night:
    """A match of `first` and `second` at one node, in which another node has committed the first one's turn."""

    house: House
    post: Post
    first: Player
    second: Player
    letter: bytes
    document: bytes

    def within(self, *calls: Any) -> None:
        """Makes calls `(function, *arguments)` in greenlets of their own, and fails if they do not end."""
        greenlets = [gevent.spawn(*call) for call in calls]
        gevent.joinall(greenlets, timeout=10, raise_error=True)
        assert all(one.ready() for one in greenlets)

    def is_over(self) -> None:
        """Checks that nobody sits at the table, and that it is free."""
        assert self.first.table is self.second.table is None
        assert [list(one.channel.closed) for one in (self.first, self.second)] == [[closing.UNAVAILABLE]] * 2  # type: ignore[attr-defined]
        assert self.house.arena._tables.all() == []


@pytest.fixture
def night(store: MatchStore, registry: Registry, settings: Settings) -> Night:
    """A letter of another version is on its way."""
    house = House(store, registry, settings)
    first, second = house.seats(1)
    match = house.match_of(first)
    game = registry[GAME]
    after = step(game, match, Turned(first.bot, {"n": 1}, 0.1), 1001.0).match
    seat = after.seat_of(second.bot)
    assert seat is not None
    document = of_another_version(after)
    letter = Mail.of(second.place, update_for(game, after, seat), document).encode()
    return Night(house, house.arena.post(), first, second, letter, document)


def test_a_turn_in_it_sends_its_players_away(night: Night) -> None:
    """To where it can be read; the table is not kept locked, nor the letters that follow held up."""
    night.within((night.post.take, night.letter))
    night.within((night.house.offer, night.second))
    night.within((night.house.arena.turned, night.second, {"n": 2}, 0.0))
    night.is_over()
    night.within((night.post.take, night.letter), (night.house.arena.left, night.second, True, "closed"))
    # the letter to who has left is handled in the background
    wait_for(lambda: night.house.arena._tables.all() == [], "no table")


def test_a_look_at_it_sends_its_players_away(night: Night, client: redis.Redis) -> None:
    """Whatever the reason of the look."""
    match = night.house.match_of(night.first)
    client.hset(keys.match(match.id), "doc", night.document)
    night.within((night.house.arena.look_after, match.id))
    night.is_over()


def test_the_end_of_it_is_told(night: Night, registry: Registry) -> None:
    """An end needs no answer."""
    game, match = registry[GAME], night.house.match_of(night.first)
    over = step(game, match, Turned(night.first.bot, None, 0.1, unforgiving=True), 1001.0).match
    assert over.verdict is not None
    seat = over.seat_of(night.second.bot)
    assert seat is not None
    mail = Mail.of(night.second.place, update_for(game, over, seat), of_another_version(over))
    night.within((night.post.take, mail.encode()))
    assert night.second.channel.told[-1]["state"]["victor"] == night.second.bot  # type: ignore[attr-defined]
    assert night.house.released == [night.second.bot]


def test_who_leaves_it_holds_nothing_up(night: Night) -> None:
    """The seat is left to nodes that can read who has it."""
    night.within((night.post.take, night.letter))
    night.within(
        (night.house.arena.left, night.second, False, "broken"), (night.house.arena.left, night.first, True, "x")
    )
    assert night.house.arena._tables.all() == []


@pytest.mark.parametrize("how", ["a turn", "a look", "leaves"])
def test_a_node_that_can_read_it_empties_the_seats_of_those_who_are_sent_away(
    night: Night, client: redis.Redis, registry: Registry, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Their own node lives, so that no sweep would: they could not come back. Nobody's clock runs meanwhile."""

    def unreadable(match_id: str) -> Match:
        raise UnreadableMatch("Another version wrote it.")

    arena, match = night.house.arena, night.house.match_of(night.first)
    name = f"n{uuid4().hex}"  # of this test alone: its mailbox is read on
    other = arena_of(Conductor(registry, MatchStore(client, hold_s=2.0), name, now_s=lambda: 1001.0))
    Mailbox(client, keys.mailbox(name), other.post().take, lambda: None).start()
    for node in ("n1", name):
        Heartbeats(client).send(node, time.time(), first=False)
    monkeypatch.setattr(night.house.store, "load", unreadable)
    night.within((night.post.take, night.letter))
    match how:
        case "a turn":
            night.within((arena.turned, night.second, {"n": 2}, 0.0))
        case "a look":
            night.within((arena.look_after, match.id))
        case "leaves":
            night.within((arena.left, night.first, False, "broken"))
    assert list(night.second.channel.closed) == [closing.UNAVAILABLE]  # type: ignore[attr-defined]
    others = MatchStore(client)
    wait_for(lambda: all(seat.place is None for seat in others.load(match.id).seats), "empty seats")
    seats = others.load(match.id).seats
    assert [(seat.emptied_by, seat.how, seat.stopped) for seat in seats] == [(Fault.SERVER, "unavailable", True)] * 2
    assert client.smembers(keys.empty_seats(night.second.bot)) == {match.id.encode()}


def test_a_node_without_its_game_leaves_the_seats_of_those_who_are_sent_away_to_others(
    store: MatchStore, registry: Registry, begun: Callable[..., Match]
) -> None:
    """It is told as all are, and could not go on with the match."""
    match = begun("numberwang", now_s=time.time())
    without = Registry({name: game for name, game in registry.items() if name != match.game})
    arena_of(Conductor(without, store, "n2"))._host.empty(match.id, "ada", "n1/1.1")
    assert store.load(match.id) == match


def test_one_that_is_set_aside_is_over_for_those_who_could_have_gone_on_with_it(
    night: Night, client: redis.Redis
) -> None:
    """Nobody stores it any more. Once is enough, and what is kept of it stays."""
    night.within((night.house.arena.turned, night.first, {"n": 1}, time.monotonic()))
    match = night.house.match_of(night.first)
    for _ in range(2):
        set_aside(night.house.store, match.id)
    night.within((night.house.arena.turned, night.second, {"n": 2}, time.monotonic()))
    for player in (night.first, night.second):
        told = player.channel.told[-1]  # type: ignore[attr-defined]
        assert (told["state"]["complete"], told["state"]["victor"], told["match"]["fault"]) == (True, None, "server")
    assert night.house.store.live_ids() == []
    assert decode_match(client.hget(keys.match_aside(match.id), "doc")) == match  # type: ignore[arg-type]
    assert client.llen(keys.turns_aside(match.id)) == match.version == 1
