"""Letters that must wait, for a table that somebody holds or for Redis: those of other matches are read meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from msgspec.structs import replace
from peer import new_name
from seated import Bot, Node

from battlebot.arena.live import conduct
from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.mail import Mail, begun, eviction, rejoin
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.tables import Table
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.referee.events import NODE_DEAD, Joined, Orphaned, Turned
from battlebot.referee.match import Match
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.wire.closing import TAKEN_OVER


class Held(Node):
    """A node that reads its mail. Bob sits at it in one match, whose letters may have to wait, and in another."""

    def __init__(self, store: MatchStore, registry: Registry, make: Callable[..., Match]) -> None:
        super().__init__(store, registry, new_name("node"))
        Mailbox(store.client, keys.mailbox(self.arena.node), self.arena.post().take, lambda: None).start()
        self.n2 = Conductor(registry, store, "n2")
        self.make = make
        (self.bob, self.match), (self.other_bob, self.other) = self.sits("2"), self.sits("3")

    def sits(self, connection: str) -> tuple[Player, Match]:
        """A connection of bob's, in a match in which ada, at n2, is on turn."""
        bob = self.comes("bob", connection, Bot())
        match = self.make("numberwang", ada=f"n2/{connection}.1", bob=bob.place, now_s=time.time())
        wait_for(lambda: bob.table, "the beginning")
        return bob, match

    @property
    def table(self) -> Table:
        """That of the first match."""
        assert self.bob.table is not None
        return self.bob.table

    def posts(self, *letters: bytes) -> None:
        """These letters come to the node."""
        for letter in letters:
            self.store.post(self.arena.node, letter)

    def letter(self, revision: int) -> bytes:
        """One that brings the first match's bob an update of its own."""
        mail = Mail.of(self.bob.place, update_for(self.registry["numberwang"], self.match, self.match.seats[1]), b"")
        mail = replace(mail, document=encode_match(self.match).decode(), asks=False, repeats=False)
        return replace(mail, revision=revision, text=f'{{"revision": {revision}}}').encode()

    def others_are_read(self) -> None:
        """A turn in the other match is told while letters of the first one wait."""
        self.n2.conduct(self.store.load(self.other.id), Turned("ada", {"n": 1}, 0.1))
        wait_for(lambda: len(told(self.other_bob)) == 2, "the turn in the other match")


def told(player: Player) -> list[dict[str, Any]]:
    """What the player has been told."""
    assert isinstance(player.channel, Bot)
    return player.channel.told


@pytest.fixture
def held(begun: Callable[..., Match], store: MatchStore, registry: Registry) -> Held:
    """The node."""
    return Held(store, registry, begun)


def test_letters_for_a_table_that_is_held_wait_and_those_of_other_matches_do_not(held: Held) -> None:
    """They are told in their order when the table is free, and those that come later after them."""
    with held.table.lock:
        held.posts(held.letter(1), held.letter(2))
        held.others_are_read()
        assert len(told(held.bob)) == 1
        held.posts(held.letter(3))
    held.posts(held.letter(4))
    wait_for(lambda: len(told(held.bob)) == 5, "all letters")
    assert [one["revision"] for one in told(held.bob)[1:]] == [1, 2, 3, 4]


def test_no_letter_is_lost_or_overtaken_while_the_table_is_taken_and_given_back(held: Held) -> None:
    """Whatever moment each comes at."""
    table, over, chance = held.table, threading.Event(), random.Random(1)

    def hold() -> None:
        while not over.is_set():
            with table.lock:
                over.wait(chance.random() / 500)
            over.wait(chance.random() / 500)

    holder = threading.Thread(target=hold)
    holder.start()
    for revision in range(1, 1001):
        held.posts(held.letter(revision))
    try:
        wait_for(lambda: len(told(held.bob)) >= 1001, "all letters")
    finally:
        over.set()
        holder.join()
    assert [one["revision"] for one in told(held.bob)[1:]] == list(range(1, 1001))


def test_who_loses_its_seat_to_another_connection_is_told_first_what_came_before(held: Held) -> None:
    """Both letters wait for the table; letters of other matches do not."""
    player, table = held.bob, held.table
    with table.lock:
        held.posts(held.letter(1), eviction(player.place))
        held.others_are_read()
        assert player.table is table
    assert isinstance(player.channel, Bot)
    closed = player.channel.closed
    wait_for(lambda: closed == [TAKEN_OVER], "the end of the connection")
    assert (len(told(player)), player.table, held.arena._tables.find(table.match_id)) == (2, None, None)


def test_who_asks_for_a_beginning_gets_it_after_the_letter_that_waits(held: Held) -> None:
    """Whoever asks for it by a letter, or looks after all seats, finds this match lost: that would be told first."""
    late = held.comes("bob", "4", Bot())
    with held.arena._tables.at("lost") as table:
        match = replace(held.match, id=table.match_id)
        mail = Mail.of(late.place, update_for(held.registry["numberwang"], match, match.seats[1]), encode_match(match))
        held.posts(mail.encode(), begun(match.id, late.place), rejoin())
        held.others_are_read()
        assert told(late) == []
    wait_for(lambda: len(told(late)) == 2, "the beginning, and the end")
    assert [one["state"]["complete"] for one in told(late)] == [False, True]


def test_a_letter_to_one_who_has_left_holds_up_no_other_match(
    held: Held, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its seat is emptied. The match is one in which a node has died, and another seems to: that takes some time."""
    monkeypatch.setattr(conduct, "BACK_S", 600.0)
    match = held.n2.conduct(held.store.load(held.match.id), Orphaned("ada", "n2/2.1", NODE_DEAD)).match
    match = held.n2.conduct(match, Joined("ada", "n2/9.1")).match
    dying = new_name("node")
    held.store.begin_try(match.id, dying)
    Heartbeats(client).send(dying, time.time(), first=False)
    place = held.bob.place
    held.arena._tables.unseat(held.table, held.bob)
    update = update_for(held.registry["numberwang"], match, match.seats[1])
    held.posts(Mail.of(place, update, encode_match(match)).encode())
    held.others_are_read()
    assert held.store.load(match.id).seats[1].place == place
    with client.pubsub() as listening:
        listening.subscribe(keys.mailbox(dying))
        wait_for(lambda: held.store.load(match.id).seats[1].place is None, "an empty seat")
