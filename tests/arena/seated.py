"""A node at which a bot waits, and what may happen to its seat meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import redis
from conductors import Conductor
from nodes import arena_of
from players import login_of, player_of

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.referee.events import Orphaned, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.runtime.timers import Timers
from battlebot.wire.closing import Closing


class Bot:
    """A channel to a bot that reads at once; `writes` False: what it is sent lies in the outbox."""

    held_up = False

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.closed: list[Closing] = []
        self.unwritten: list[Callable[[float], None]] = []
        self.writes = True

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.told.append(json.loads(text))
        if on_written is not None:
            self.unwritten.append(on_written)
        if self.writes:
            self.write()

    def write(self) -> None:
        """What lies in the outbox is written."""
        while self.unwritten:
            self.unwritten.pop(0)(time.monotonic())

    def close(self, reason: Closing) -> None:
        self.closed.append(reason)


class Node:
    """The node n1, or of this name, at which ada waits at her first place; and another that finds her gone."""

    def __init__(self, store: MatchStore, registry: Registry, name: str = "n1") -> None:
        self.store, self.registry = store, registry
        self.timers = Timers()
        self.arena = arena_of(Conductor(registry, store, name), self.timers)
        self.bot = Bot()
        self.ada = self.comes("ada", "1", self.bot)

    def comes(self, name: str, connection: str, bot: Bot, game: str = "numberwang") -> Player:
        """A bot that waits at this node."""
        player = player_of(login_of(name, game), bot, connection)
        player.new_place(self.arena.node, time.time())
        self.arena.expect(player)
        return player

    def read_letter(self, match: Match, seat: int = 0) -> None:
        """The letter by which the node hears of the match."""
        update = update_for(self.registry[match.game], match, match.seats[seat])
        self.arena.post().take(Mail.of(str(match.seats[seat].place), update, encode_match(match)).encode())

    def empty_seat(self, match: Match) -> None:
        """The sweep has found the node dead."""
        away = Conductor(self.registry, self.store)
        away.conduct(self.store.load(match.id), Orphaned("ada", "n1/1.1", "node-dead"))

    def seat(self, match: Match) -> Seat:
        """Ada's."""
        return self.store.load(match.id).seats[0]


def other_plays(node: Node, match: Match, number: int = 2) -> None:
    """Bob's turn, whose letter to ada's node is lost."""
    Conductor(node.registry, node.store, "n2").conduct(node.store.load(match.id), Turned("bob", {"n": number}, 0.1))


def refused(*_: object) -> None:
    raise redis.ConnectionError("away")
