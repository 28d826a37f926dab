"""Who takes others along and needs no match gives them back."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from cluster import wait_for
from lobbies import comes, lobby_of, others

from battlebot.arena.live.casual import series_of
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import Manner, Ticket
from battlebot.arena.node.player import Player
from battlebot.arena.places import Traits
from battlebot.config import Settings
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox


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
    (held,) = others(lobby.queues.wait("numberwang", bob, 1, Manner(by_name=True)))
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
    post = other.arena.post(freed=other.on_freed)
    Mailbox(client, keys.mailbox("far"), post.take, lambda: None).start()
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
