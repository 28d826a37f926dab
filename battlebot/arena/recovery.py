"""Brings a node's tables up to date after something was lost: a letter, Redis for a time, the node's own seats."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import structlog

from battlebot.arena import keys
from battlebot.arena.host import Host
from battlebot.arena.player import Player
from battlebot.arena.tables import Table
from battlebot.arena.timers import Timers, in_background
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.match import Match, Seat
from battlebot.referee.step import update_for
from battlebot.referee.telling import told
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
        self._planned: set[str] = set()

    def later(self, match_id: str) -> None:
        """Looks after a match in a while, and again until Redis answers; once, however many ask for it meanwhile."""
        if match_id not in self._planned:
            self._planned.add(match_id)
            self._timers.at(time.monotonic() + AGAIN_S, partial(in_background, self._again, match_id))

    def _again(self, match_id: str) -> None:
        self._planned.discard(match_id)
        try:
            self.look_after(match_id)
        except Unavailable:
            self.later(match_id)

    def nudged(self, match_id: str, waiting: Player | None = None) -> None:
        """As `look_after`; somebody found that a match stands still. Never raises: who noticed it asks again."""
        try:
            self.look_after(match_id, waiting)
        except Unavailable as error:
            log.warning("match.nudge_put_off", match=match_id, error=str(error))

    def look_after(self, match_id: str, waiting: Player | None = None) -> None:
        """Brings every seat of this node in a match up to date: letters may have been lost. Raises Unavailable.

        `waiting` is who waits for just this match to begin.
        """
        with self._tables.at(match_id) as table:
            try:
                # what was read before the lock was had would be old: the match may have gone on meanwhile
                match = table.load()
            except UnknownMatch:
                self._host.lost(match_id)
                return
            for seat in match.seats:
                player = table.players.get(seat.bot)
                # a moment ago it may have gone
                if player is None and waiting is not None and waiting.bot == seat.bot:
                    player = self._tables.expected(waiting.place)
                self._bring_up_to_date(table, match, seat, player)

    def catch_up(self, table: Table, player: Player, version: int) -> None:
        """Tells a player who knows the match at `version` how it stands, by what this node knows.

        As everybody else it is told the turn, if that is all that it has missed.
        """
        match = table.known()
        seat = None if match is None else match.seat_of(player.bot)
        if match is not None and seat is not None and seat.place in (None, player.place):
            game, turn = self._conductor.registry[match.game], None
            if match.version == version + 1 and not game.simultaneous:
                turn = self._turn_at(match, version)
            self._host.deliver(table, player, told(game, match, seat, turn) if turn else update_for(game, match, seat))

    def _turn_at(self, match: Match, version: int) -> dict[str, Any] | None:
        try:
            turns = self._conductor.store.turns(match.id, version, version + 1)
        except Unavailable:
            return None
        return turns[0] if turns else None

    def _bring_up_to_date(self, table: Table, match: Match, seat: Seat, player: Player | None) -> None:
        if seat.place is None or keys.node_of(seat.place) != self._conductor.node:
            if player is not None:
                self._rejoin(table, match, seat, player)
            return
        player = player or self._tables.expected(seat.place)
        if player is None or player.place != seat.place:
            if self._tables.elsewhere(seat.place, match.id) is not None:
                return
            self._host.leave(table, self._tables.departed(seat.bot, seat.place))
            return
        self._tables.seat(table, player)
        game = self._conductor.registry[match.game]
        unasked = seat.bot in game.awaited(match.state) and player.asked_version != seat.question
        self._host.deliver(table, player, update_for(game, match, seat), reply=unasked)

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
            self.look_after(table.match_id)

    def _rejoin(self, table: Table, match: Match, seat: Seat, player: Player) -> None:
        """A player whom this node holds, though its seat is empty or elsewhere."""
        if seat.place is not None:
            self._tables.unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)
            return
        self._tables.seat(table, player)
        if match.verdict is not None:
            self._host.deliver(table, player, update_for(self._conductor.registry[match.game], match, seat))
        else:
            self._host.sit_again(table, player)
