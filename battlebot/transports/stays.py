"""How a bot comes in, waits again and leaves, whatever the door. What is said to it meanwhile is the door's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import gevent
import structlog

from battlebot.arena.player import Channel, Player
from battlebot.arena.service import Arena
from battlebot.config import Settings
from battlebot.transports.connection import Gone
from battlebot.transports.limits import Patience, TurnedAway
from battlebot.transports.ports import WaitingRoom
from battlebot.wire import closing

log = structlog.get_logger()

# a bot that is known by heart is looked up faster than one that is unknown: a refusal must not show which it was
REFUSED_AFTER_S = 0.1

# closes that are the server's own doing
OURS = frozenset({closing.RESTARTING, closing.UNAVAILABLE, closing.SERVER_ERROR})


class DoorsChannel(Channel, Protocol):
    """A player's channel. `dismissed`: it was closed for one of `OURS`, which is no fault of the bot's."""

    dismissed: bool


class Stays:
    """The players of a node at one door, `players`; `draining`: nobody is let in any more."""

    def __init__(self, settings: Settings, lobby: WaitingRoom, arena: Arena) -> None:
        self.players: set[Player] = set()
        self.draining = False
        self._lobby = lobby
        self._arena = arena
        self._patience = Patience(settings.relogin_free, settings.relogin_delay_max_s)
        self._turned_away = TurnedAway()
        self._entering: dict[Player, gevent.Greenlet] = {}

    def refuse(self, address: str, received_s: float) -> None:
        """Waits until whoever sent a wrong login, which arrived at `received_s` (monotonic), may be told so."""
        peer = f"\0{address}"  # no bot's name holds a control character
        gevent.sleep(max(self._patience.delay_s(peer), received_s + REFUSED_AFTER_S - time.monotonic()))
        self._patience.fruitless(peer)

    def let_in(self, bot: str, received_s: float, arrived_s: float) -> float:
        """Waits as long as a bot must that comes again and again; answers since when (epoch) it counts as there.

        Its login arrived at `received_s` (monotonic), which is `arrived_s` (epoch). What it waits for by its own fault
        is charged, what the server takes is not.
        """
        delay_s = self._patience.delay_s(bot)
        gevent.sleep(delay_s)
        away_s = self._turned_away.let_in(bot, arrived_s)
        return arrived_s - away_s if away_s else arrived_s + min(delay_s, time.monotonic() - received_s)

    def turn_away(self, player: Player) -> None:
        """The server could not let the player in: what passes until it comes again is not the bot's."""
        assert player.came_s is not None
        self._turned_away.note(player.bot, player.came_s)

    def count(self, player: Player) -> None:
        """Notes whether the player's connection, which is over, has brought it a match."""
        if player.finished_matches:
            self._patience.played(player.bot)
        else:
            self._patience.fruitless(player.bot)

    @contextmanager
    def of(self, player: Player, channel: DoorsChannel) -> Iterator[None]:
        """The player's stay, for the time of the `with` block; how that ends says who has ended it.

        Gone says it itself; whatever else is raised is the server's fault.
        """
        clean, how = False, "error"
        self.players.add(player)
        try:
            yield
        except Gone as gone:
            clean, how = gone.clean, gone.how
            raise
        except Exception:
            channel.dismissed = True
            raise
        finally:
            self._part(player, channel, clean, how)

    def _part(self, player: Player, channel: DoorsChannel, clean: bool, how: str) -> None:
        self.players.discard(player)
        player.gone = True
        entering = self._entering.pop(player, None)
        if entering is not None:
            entering.join()  # else its ticket could be there after we have left
        # first of all: Redis may be slow to answer, and while the ticket is taken away a match may begin with it
        if channel.dismissed:
            self._arena.orphaned(player, how)
        else:
            self._arena.left(player, clean, how)
        self._lobby.leave(player)

    def again(self, player: Player, enter: Callable[[Player], None]) -> None:
        """A player whose match is over waits for the next: `enter` has it do so, and does not raise."""
        # in a greenlet of its own: whose turn ended the match must go on reading
        self._entering[player] = gevent.spawn(enter, player)

    def drain(self, send_away: Callable[[Player], None]) -> list[gevent.Greenlet]:
        """The node is going to stop: `send_away` is called for each player, in the greenlets that are answered."""
        self.draining = True
        log.info("node.drains", players=len(self.players))
        return [gevent.spawn(send_away, player) for player in self.players]
