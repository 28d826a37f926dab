"""Brings events to a node's tables and what they say to its players: conduct, deliver, leave, lose, end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import structlog
from msgspec.structs import replace

from battlebot.arena.conduct import Conductor, Draft
from battlebot.arena.player import Player
from battlebot.arena.tables import Table, Tables
from battlebot.arena.timers import Timers, in_background
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.events import Event, Failed, Joined, Left, Orphaned, Overdue
from battlebot.referee.match import Match, Seat
from battlebot.referee.step import Step, step
from battlebot.referee.telling import beginning_for
from battlebot.rules.contract import Game
from battlebot.wire import closing
from battlebot.wire.updates import Update

log = structlog.get_logger()

# after a clock's end: what arrived in time must be read before the time-out is called
READING_S = 0.05
LATE_S = 0.25  # so much later than it was to be, a look at an empty seat is put off
AGAIN_S = 1.0
MOST_MISSED = 100  # turns that a bot which comes back is told; the state has the sum of all


class Host:
    """What may be done at a table by whoever holds its lock.

    `release(player)` is called when a player's match is over; `look_later(match_id)` looks after a match in a while.
    """

    def __init__(
        self,
        conductor: Conductor,
        tables: Tables,
        timers: Timers,
        release: Callable[[Player], None],
        look_later: Callable[[str], None],
    ) -> None:
        self.conductor = conductor
        self.tables = tables
        self._timers = timers
        self._release = release
        self._look_later = look_later

    def conduct(self, table: Table, event: Event, draft: Draft | None = None) -> None:
        """Answers an event at the table and tells this node's players; who joins is told what it missed, too.

        `draft` is the answer, where it has been drafted.
        Raises Unavailable if nobody knows whether it was committed: when Redis is back they are told what is there.
        """
        try:
            answer = self.conductor.conduct(table.newest(), event, draft)
        except UnknownMatch:
            self.lost(table.match_id)
            return
        except Unavailable:
            # it may have been committed all the same: then nobody else tells this node's players
            self._look_later(table.match_id)
            raise
        self._tell(table, answer, dict(table.players), event)

    def settle(self, table: Table, draft: Draft, ask_archive: bool, event: Event) -> None:
        """As `conduct`, of a draft that has been committed, or that changes nothing. Waits for nothing if all sit."""
        answer = draft.answer if draft.commit is None else self.conductor.committed(draft, ask_archive)
        self._tell(table, answer, dict(table.players), event)

    def _tell(self, table: Table, answer: Step, players: Mapping[str, Player], event: Event | None = None) -> None:
        table.match, table.document = answer.match, None
        for update in answer.updates:
            player = players.get(update.bot)
            if player is None:
                continue
            if isinstance(event, Joined) and event.bot == update.bot:
                # also where the match is over, and nobody has a place in it any more
                update = self._with_missed(player, update, answer.match)
                try:
                    update = self.with_turn(player, update, answer.match)
                except Unavailable:
                    # it sits, and is told with the next look
                    self._look_later(table.match_id)
                else:
                    self.deliver(table, player, update, answer.reply)
            elif update.place in (None, player.place):
                # who sits here while its seat stands empty was taken for gone, wrongly
                if player.table is not table:
                    self.tables.seat(table, player)
                self.deliver(table, player, update, answer.reply)
        self._seat_again(table, answer.match)
        if answer.then is not None:
            # both have been told how this board ended before one of them is asked on the next
            self._follow(answer.then, players)

    def _follow(self, answer: Step, players: Mapping[str, Player]) -> None:
        with self.tables.at(answer.match.id) as table:
            self._tell(table, answer, players)
            for seat in answer.match.seats if answer.match.verdict is None else ():
                # who is away has no longer for this board than it had for the one before
                self._look_when_due(table.match_id, seat)

    def _seat_again(self, table: Table, match: Match) -> None:
        """Who sits here while its seat stands empty takes it again: this node stood, or Redis was away."""
        if match.verdict is not None:
            return
        for seat in match.seats:
            player = table.players.get(seat.bot)
            if seat.place is None and player is not None:
                self.sit_again(table, player)
                return

    def sit_again(self, table: Table, player: Player) -> None:
        """A player of this node takes its empty seat again, its clock having stood; who sits there by now keeps it."""
        player.pause_clock()
        self.conduct(table, Joined(player.bot, player.place, again=True))
        match = table.known()
        seat = None if match is None else match.seat_of(player.bot)
        if player.table is not table or seat is None:
            return
        if seat.place == player.place:
            log.info("match.sat_again", match=table.match_id, bot=player.bot)
        elif seat.place is not None:
            self.tables.unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)

    def _with_missed(self, player: Player, update: Update, match: Match) -> Update:
        seen, player.seen_version = player.seen_version, None
        if player.login.resume != update.match_id or seen is None:
            return update
        first = max(seen, update.version - MOST_MISSED)
        missed = self.conductor.store.turns(update.match_id, first, update.version)
        if missed is None:
            return update
        game = self.conductor.registry[match.game]
        return replace(update, missed=tuple(_as_seen(game, update, turn) for turn in missed))

    def with_turn(self, player: Player, update: Update, match: Match) -> Update:
        """The update with the turn that led to it, if that is all that a player who sits has missed.

        Everybody else was told it so. Where all move at once there is no such turn. Raises Unavailable.
        """
        game = self.conductor.registry[match.game]
        before = update.version - 1
        if game.simultaneous or player.known_version != before or before < 0 or not update.repeats:
            return update
        turns = self.conductor.store.turns(match.id, before, update.version)
        if not turns:
            return update
        return replace(update, turn=_as_seen(game, update, turns[0]))

    def seat(self, table: Table, player: Player, version: int) -> None:
        """The player, who is about to be told the match at that version, sits at the table.

        Who waited for the match, and was not told when it began, is told its beginning first.
        """
        comes = player.table is not table
        self.tables.seat(table, player)
        match = table.known() if comes and version else None
        if match is None or match.seat_of(player.bot) is None:
            return
        update = beginning_for(self.conductor.registry[match.game], match, player.bot)
        if update is not None:
            player.tell(update)

    def deliver(self, table: Table, player: Player, update: Update, reply: bool = False) -> None:
        """Tells a player an update; the last one of a match frees it."""
        player.tell(update, reply)
        if update.final:
            self.finish(table, player)

    def finish(self, table: Table, player: Player) -> None:
        """The player's match is over; it waits where it is for the board that follows, if one does."""
        match = table.known()
        self.tables.unseat(table, player)
        player.finished_matches += 1
        self.tables.drop_if_empty(table)
        if match is not None and match.verdict is not None and match.goes_on and not player.gone:
            self.tables.expect(player)
        else:
            self._release(player)

    def leave(self, table: Table, event: Left | Orphaned) -> None:
        """The connection at a place is gone, or was never there: the seat stands empty, and is looked at in time."""
        try:
            self.conduct(table, event)
            seat = table.newest().seat_of(event.bot)
        except (Unavailable, UnknownMatch) as error:
            # the sweep finds the seat of a place that nobody holds
            log.warning("match.left_late", match=table.match_id, bot=event.bot, error=str(error))
            self.tables.drop_if_empty(table)
            return
        if seat is not None:
            self._look_when_due(table.match_id, seat)
        log.info("match.left", match=table.match_id, bot=event.bot, how=event.how)
        self.tables.drop_if_empty(table)

    def _look_when_due(self, match_id: str, seat: Seat) -> None:
        if seat.back_by_s is not None:
            self._look_at(match_id, time.monotonic() + seat.back_by_s - self.conductor.now_s() + READING_S)

    def _look_at(self, match_id: str, moment_s: float) -> None:
        self._timers.at(moment_s, partial(in_background, self._overdue, match_id, moment_s))

    def _overdue(self, match_id: str, moment_s: float) -> None:
        with self.tables.at(match_id) as table:
            try:
                table.load()
                now_s = time.monotonic()
                if now_s > moment_s + LATE_S:
                    # the server has stood still, or Redis has: who came back meanwhile may still be on its way in
                    self._look_at(match_id, now_s + AGAIN_S)
                else:
                    self.conduct(table, Overdue())
            except UnknownMatch:
                self.lost(match_id)
            except Unavailable as error:
                # the sweep finds it
                log.warning("match.overdue_put_off", match=match_id, error=str(error))

    def lost(self, match_id: str) -> None:
        """Redis has lost the match: it ends here, by the server's fault, for whoever sits at this node."""
        table = self.tables.find(match_id)
        if table is None:
            return
        with table.lock:
            held = table.known()
            players = list(table.players.values())
            if held is not None:
                log.error("match.lost", match=match_id, game=held.game, contest=held.contest)
                game = self.conductor.registry[held.game]
                answer = step(game, held, Failed("the live match was lost"), self.conductor.now_s())
                for update in answer.updates:
                    if update.bot in table.players:
                        self.deliver(table, table.players[update.bot], update)
            for player in players:
                if player.table is table:
                    self.tables.unseat(table, player)
                    player.channel.close(closing.SERVER_ERROR)
            self.tables.drop_if_empty(table)


def _as_seen(game: Game, update: Update, turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as the update's bot may see it: of a match that is over, all of it."""
    return turn if update.final else game.view_turn(turn, update.bot)
