"""A live match in a real Valkey."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from records import GAMES
from seated import Node

from battlebot.arena.live.finished import Finished
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import ticket_of
from battlebot.config import Settings
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry


@pytest.fixture(scope="session")
def registry() -> Registry:
    """Returns all games."""
    return GAMES


@pytest.fixture
def store(client: redis.Redis) -> MatchStore:
    """Returns the store of live matches."""
    return MatchStore(client, hold_s=2.0)


@pytest.fixture
def finished(client: redis.Redis) -> Finished:
    """Returns the matches that are over and not archived."""
    return Finished(client)


@pytest.fixture
def begun(client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings) -> Callable[..., Match]:
    """Begins a match between `ada` at place n1/1.1 and `bob` at n2/1.1; further matches need other places.

    `changes` are other settings for it.
    """

    def make(
        game: str = "noughtsandcrosses",
        ada: str = "n1/1.1",
        bob: str = "n2/1.1",
        now_s: float = 1000.0,
        **changes: Any,
    ) -> Match:
        queues = Queues(client)
        seats = [("ada", ada), ("bob", bob)]
        for bot, place in seats:
            queues.wait(game, Ticket(place, bot, now_s), BY_A_TASK)
            assert ticket_of(place, bot) in {ticket.text for ticket in queues.tickets(game)}
        match = new_match(registry[game], seats, replace(settings, **changes), now_s)
        assert begin(store, registry[game], match, game)
        return match

    return make


@pytest.fixture
def node(store: MatchStore, registry: Registry) -> Node:
    """The node."""
    return Node(store, registry)


@pytest.fixture
def match(begun: Callable[..., Match]) -> Match:
    """Ada moves first."""
    return begun("numberwang", now_s=time.time())
