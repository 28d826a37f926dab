"""Brings a node's tables up to date after something was lost: a letter, Redis for a time, the node's own seats."""

from __future__ import annotations

import time
from functools import partial

import structlog

from battlebot.arena import keys
from battlebot.arena.host import Host
from battlebot.arena.player import Player
from battlebot.arena.tables import Table
from battlebot.arena.timers import Timers, in_background
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.events import Joined
from battlebot.referee.step import update_for
from battlebot.wire import closing

log = structlog.get_logger()

AGAIN_S = 1.0  # until a match that could not be read is looked at again


class Recovery:
    """Looks after the matches of which this node holds a seat."""

    def __init__(self, host: Host, timers: Timers) -> None:
        self._host = host
        self._tables = host.tables
        self._conductor = host.conductor
        self._timers = timers

    def later(self, match_id: str) -> None:
        """Looks after a match in a while, and again until Redis answers."""
        self._timers.at(time.monotonic() + AGAIN_S, partial(in_background, self._again, match_id))

    def _again(self, match_id: str) -> None:
        try:
            self.look_after(match_id)
        except Unavailable:
            self.later(match_id)

    def nudged(self, match_id: str) -> None:
        """Somebody found that a match stands still. Never raises: who noticed it asks again."""
        try:
            self.look_after(match_id)
        except Unavailable as error:
            log.warning("match.nudge_put_off", match=match_id, error=str(error))

    def look_after(self, match_id: str) -> None:
        """Brings every seat of this node in a match up to date: letters may have been lost. Raises Unavailable."""
        try:
            match = self._conductor.store.load(match_id)
        except UnknownMatch:
            self._host.lost(match_id)
            return
        table = self._tables.of(match_id)
        with table.lock:
            table.match, table.document = match, None
            game = self._conductor.registry[match.game]
            for seat in match.seats:
                if seat.place is None or keys.node_of(seat.place) != self._conductor.node:
                    continue
                player = table.players.get(seat.bot) or self._tables.expected(seat.place)
                if player is None or player.place != seat.place:
                    self._host.leave(table, self._tables.departed(seat.bot, seat.place))
                    continue
                self._tables.seat(table, player)
                unasked = seat.bot in game.awaited(match.state) and player.asked_version != seat.question
                self._host.deliver(table, player, update_for(game, match, seat), reply=unasked)
            self._tables.drop_if_empty(table)

    def look_after_all(self) -> None:
        """Brings all seats up to date: the mailbox was unreadable for a time."""
        for table in self._tables.all():
            try:
                self.look_after(table.match_id)
            except Unavailable:
                return

    def rejoin_all(self) -> None:
        """Takes every seat of this node's players again that was emptied meanwhile. Raises Unavailable.

        Who has sat down elsewhere meanwhile keeps that seat; of a match that is over its end is told.
        """
        for table in self._tables.all():
            with table.lock:
                for player in list(table.players.values()):
                    self._rejoin(table, player)
                self._tables.drop_if_empty(table)

    def _rejoin(self, table: Table, player: Player) -> None:
        table.forget()
        try:
            match = table.newest()
        except UnknownMatch:
            self._host.lost(table.match_id)
            return
        seat = match.seat_of(player.bot)
        if seat is None or seat.place == player.place:
            return
        if seat.place is not None:
            self._tables.unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)
        elif match.verdict is not None:
            game = self._conductor.registry[match.game]
            self._host.deliver(table, player, update_for(game, match, seat))
        else:
            player.stop_clock()  # it stood while this node did
            self._host.conduct(table, Joined(player.bot, player.place))
