"""The lobby of one node over a real Valkey: who is gone leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from battlebot.arena.conduct import Conductor
from battlebot.arena.connection import connect
from battlebot.arena.lag import Lag
from battlebot.arena.player import Player
from battlebot.arena.service import Arena
from battlebot.arena.store import MatchStore
from battlebot.arena.timers import Timers
from battlebot.config import Settings
from battlebot.matchmaking.lobby import Lobby
from battlebot.matchmaking.queue import Queues
from battlebot.rules.registry import discover
from battlebot.wire.closing import Closing
from battlebot.wire.login import Login


class Bot:
    """A channel to a bot that reads at once."""

    held_up = False

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Nobody looks."""

    def close(self, reason: Closing) -> None:
        """Nobody looks."""


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """A client of the emptied Valkey."""
    made = connect(settings.redis_url)
    yield made
    made.close()


@pytest.fixture
def lobby(client: redis.Redis, settings: Settings) -> Lobby:
    """Of the node n1, outside contests."""
    registry, store = discover(), MatchStore(client)
    arena = Arena(Conductor(registry, store, "n1"), Timers(), lambda player: None)
    nowhere: Any = None
    return Lobby(registry, settings, store, Queues(client), nowhere, lambda *_: None, lambda: 1000.0, arena)


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
