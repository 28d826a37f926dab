"""Brings a node's tables up to date after something was lost: a letter, Redis for a time, the node's own seats."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial

import structlog

from battlebot.arena.node.host import Host
from battlebot.arena.node.missed import with_missed
from battlebot.arena.node.player import Player
from battlebot.arena.node.tables import Table
from battlebot.arena.places import node_of
from battlebot.errors import Unavailable, UnknownMatch, UnreadableMatch
from battlebot.referee.match import Match, Seat
from battlebot.referee.telling import update_for
from battlebot.runtime.background import in_background
from battlebot.runtime.timers import Timers
from battlebot.wire import closing

log = structlog.get_logger()

AGAIN_S = 1.0  # before a match that could not be read is looked at again


class Recovery:
    """Looks after the matches of which this node holds a seat."""

    def __init__(self, host: Host, timers: Timers) -> None:
        self._host = host
        self._tables = host.tables
        self._conductor = host.conductor
        self._timers = timers
        self._planned: set[str] = set()
        self._all_wanted = False
        self._looks = threading.Lock()

    def later(self, match_id: str) -> None:
        """Looks after a match in a while, and again until Redis answers. Calls until then are merged into one."""
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
        """Like `look_after`, for a stalled match. Does not raise Unavailable: whoever noticed it asks again."""
        try:
            self.look_after(match_id, waiting)
        except Unavailable as error:
            log.warning("match.nudge_put_off", match=match_id, error=str(error))

    def look_after(self, match_id: str, waiting: Player | None = None) -> None:
        """Brings every seat of this node in a match up to date: letters may have been lost. Raises Unavailable.

        `waiting` is a player that waits for this match to begin.
        """
        with self._tables.at(match_id) as table:
            try:
                # read under the lock: the match may have gone on before
                match = table.load()
            except UnknownMatch:
                self._host.lost(match_id)
                return
            except UnreadableMatch as error:
                self._host.send_away(table, error, waiting)
                return
            for seat in match.seats:
                player = table.players.get(seat.bot)
                # `waiting` may have gone a moment ago: then nobody is expected at its place
                if player is None and waiting is not None and waiting.bot == seat.bot:
                    player = self._tables.expected(waiting.place)
                self._bring_up_to_date(table, match, seat, player)

    def catch_up(self, table: Table, player: Player) -> None:
        """Tells a player how the match stands as this node knows it; later, if Redis does not answer."""
        match = table.known()
        seat = None if match is None else match.seat_of(player.bot)
        if match is not None and seat is not None and seat.place in (None, player.place):
            try:
                self._tell(table, match, seat, player)
            except Unavailable:
                self.later(match.id)

    def _tell(self, table: Table, match: Match, seat: Seat, player: Player, reply: bool = False) -> None:
        update = update_for(self._conductor.registry[match.game], match, seat)
        self._host.deliver(table, player, with_missed(self._conductor, player, update, match), reply)

    def _bring_up_to_date(self, table: Table, match: Match, seat: Seat, player: Player | None) -> None:
        if seat.place is None or node_of(seat.place) != self._conductor.node:
            if player is not None:
                self._rejoin(table, match, seat, player)
            return
        player = player or self._tables.expected(seat.place)
        if player is None or player.place != seat.place:
            if self._tables.elsewhere(seat.place, match.id) is not None:
                return
            self._host.leave(table, self._tables.departed(seat.bot, seat.place))
            return
        if player.finished == match.id:
            # it waits at this place for the board that follows
            return
        self._host.seat(table, player, match.version)
        game = self._conductor.registry[match.game]
        unasked = seat.bot in game.awaited(match.state) and player.asked_version != seat.question
        self._tell(table, match, seat, player, reply=unasked)

    def look_after_all(self) -> None:
        """Brings all seats up to date, as letters or seats may have been lost; if Redis is away, once it is back.

        Every seat of this node's players that was emptied meanwhile is taken back; whoever sat down elsewhere meanwhile
        keeps that seat. Players of a match that is over are told its end.
        One call works at a time: calls meanwhile make it do another round.
        """
        self._all_wanted = True
        while self._all_wanted and self._looks.acquire(blocking=False):
            try:
                self._all_wanted = False
                self._look_after_each(self._tables.all())
            finally:
                self._looks.release()

    def _look_after_each(self, tables: Sequence[Table]) -> None:
        for at, table in enumerate(tables):
            try:
                self.look_after(table.match_id)
            except Unavailable as error:
                log.warning("match.looks_put_off", matches=len(tables) - at, error=str(error))
                for left in tables[at:]:
                    self.later(left.match_id)
                return
            except Exception:
                # the others must not wait for it
                log.exception("match.look_failed", match=table.match_id)

    def _rejoin(self, table: Table, match: Match, seat: Seat, player: Player) -> None:
        """Handles a player that sits at this node, though its seat is empty or held elsewhere."""
        if seat.place is not None:
            self._tables.unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)
            return
        self._host.seat(table, player, match.version)
        if match.verdict is not None:
            self._tell(table, match, seat, player)
        else:
            self._host.sit_again(table, player)
