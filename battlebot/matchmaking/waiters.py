"""The players of a node that wait: who they are, whose turn it is to be looked at, who got a seat meanwhile. No I/O."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from battlebot.arena.live.queue import Ticket
from battlebot.arena.node.player import Player
from battlebot.redisio import keys

MOST = 2000  # players looked at in a tick; if more wait, each has its turn every few ticks


@dataclass(frozen=True, slots=True)
class WaitingPlayer:
    """A player that waits, with its queue and its ticket: made once, used every second."""

    player: Player
    queue: str
    ticket: Ticket

    @classmethod
    def of(cls, player: Player) -> WaitingPlayer:
        """Returns the waiter for a player at its present place."""
        queue = keys.queue_name(player.login.game, player.login.contest)
        return cls(player, queue, Ticket(player.place, player.bot, player.waiting_since_s))

    @property
    def place(self) -> str:
        """Where it waits."""
        return self.ticket.place

    @property
    def patient(self) -> bool:
        """Whether it waits without a time limit."""
        return self.player.login.contest is not None or bool(self.player.traits.boards)

    @property
    def has_moved_on(self) -> bool:
        """Whether its player was given a match since, and may even wait at another place by now."""
        return self.place != self.player.place


class Waiters:
    """Those of one node by their places, in the order of their coming."""

    def __init__(self) -> None:
        self._waiting: dict[str, WaitingPlayer] = {}
        self._coming: set[str] = set()
        self._overlooked: set[str] = set()
        self._looked_at = 0  # of `_waiting`, in its order, at the last tick
        self._guard = threading.Lock()

    def __contains__(self, place: object) -> bool:
        """Whether a player waits at the place, gone or seated though it may be."""
        return place in self._waiting

    def add(self, player: Player) -> None:
        """Adds a player at its present place. Call `has_come` as soon as it is known what there is for it."""
        waiter = WaitingPlayer.of(player)
        with self._guard:
            self._waiting[waiter.place] = waiter
            self._coming.add(waiter.place)

    def has_come(self, place: str) -> None:
        """Notes that the player at the place is known to wait, or got a seat."""
        self._coming.discard(place)

    def is_coming(self, waiter: WaitingPlayer) -> bool:
        """Returns whether that is not yet known."""
        return waiter.place in self._coming

    def remove(self, player: Player) -> WaitingPlayer | None:
        """Takes out a player that waits no more; returns None if it did not wait at its present place."""
        with self._guard:
            return self._waiting.pop(player.place, None)

    def at(self, places: Iterable[str]) -> list[WaitingPlayer]:
        """Returns those who still wait at these places, and forgets those who got a seat meanwhile.

        A player that is gone is kept: otherwise its leaving, which is still to come, would leave its ticket behind.
        """
        waiters = []
        with self._guard:
            for place in places:
                waiter = self._waiting.get(place)
                if waiter is None:
                    continue
                if waiter.player.table is not None or waiter.has_moved_on:
                    del self._waiting[place]
                elif not waiter.player.gone:
                    waiters.append(waiter)
        return waiters

    def in_queue(self, name: str) -> list[WaitingPlayer]:
        """Returns those who wait in a queue."""
        return [waiter for waiter in self.everybody() if waiter.queue == name]

    def everybody(self) -> list[WaitingPlayer]:
        """Returns all who wait."""
        with self._guard:
            waiters = list(self._waiting.values())
        return [one for one in waiters if one.player.table is None and not (one.player.gone or one.has_moved_on)]

    def in_turn(self, urgent: Iterable[str]) -> list[str]:
        """Returns the places to look at in this tick: `MOST` in turn, and those that must not wait for their turn."""
        with self._guard:
            places = list(self._waiting)
        first = self._looked_at if self._looked_at < len(places) else 0
        self._looked_at = first + MOST
        return list(dict.fromkeys([*places[first : first + MOST], *urgent]))

    def overlook(self, places: Iterable[str]) -> None:
        """Notes players who may have overlooked others: the next tick has them look again, out of their turn."""
        self._overlooked.update(places)

    def overlooked(self) -> set[str]:
        """Returns the places so noted, and forgets them."""
        overlooked, self._overlooked = self._overlooked, set()
        return overlooked
