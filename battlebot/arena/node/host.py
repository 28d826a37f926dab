"""Conducts events at a node's tables and tells its players the updates: conduct, deliver, leave, lose, end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog

from battlebot.arena.live.conduct import Conductor, Draft
from battlebot.arena.live.mail import abandoned
from battlebot.arena.node.missed import with_missed
from battlebot.arena.node.opening import Opening
from battlebot.arena.node.player import Player, Shown
from battlebot.arena.node.tables import Table, Tables
from battlebot.errors import Unavailable, UnknownGame, UnknownMatch, UnreadableMatch
from battlebot.referee.advance import Step
from battlebot.referee.events import Event, Failed, Joined, Left, Orphaned, Overdue
from battlebot.referee.match import Fault, Match, Seat
from battlebot.referee.step import step
from battlebot.referee.telling import beginning_for, update_for
from battlebot.runtime.background import in_background
from battlebot.runtime.timers import Timers
from battlebot.wire import closing
from battlebot.wire.updates import Update

log = structlog.get_logger()

# after a clock's end: a turn that arrived in time must be read before the time-out is called
READING_S = 0.05
LOOK_LATE_S = 0.25  # if a look at an empty seat, or what it follows, is later than this, it is put off
SEATED_AFTER_S = 1.5  # by then a waiting bot has been given its empty seat: its lobby looks every second
AGAIN_S = SEATED_AFTER_S + 0.5


class Host:
    """Operations on a table, for callers that hold its lock. `look_later(match_id)` schedules a look after a match."""

    def __init__(
        self, conductor: Conductor, tables: Tables, timers: Timers, look_later: Callable[[str], None], opening: Opening
    ) -> None:
        self.conductor = conductor
        self.tables = tables
        self._timers = timers
        self._look_later = look_later
        self._opening = opening

    def conduct(self, table: Table, event: Event, draft: Draft | None = None) -> None:
        """Conducts an event at the table and tells this node's players; a bot that joins is also told what it missed.

        `draft` is the answer, if it has been drafted already. Raises Unavailable if it is unknown whether the answer
        was committed; when Redis is back, the players are told the state that it holds.
        """
        try:
            answer = self.conductor.conduct(table.newest(), event, draft)
        except UnknownMatch:
            self.lost(table.match_id)
            return
        except UnreadableMatch as error:
            self.send_away(table, error)
            return
        except Unavailable:
            # the answer may have been committed all the same, and nobody else would tell this node's players
            self._look_later(table.match_id)
            raise
        self._tell(table, answer, dict(table.players), event)

    def settle(self, table: Table, draft: Draft, ask_archive: bool, event: Event) -> None:
        """Like `conduct`, for a draft that is committed or changes nothing.

        Does not wait if no seat is empty and no board follows.
        """
        answer = draft.answer if draft.commit is None else self.conductor.committed(draft, ask_archive)
        self._tell(table, answer, dict(table.players), event)

    def _tell(self, table: Table, answer: Step, players: Mapping[str, Player], event: Event | None = None) -> None:
        table.match, table.document = answer.match, None
        for update in answer.updates:
            player = players.get(update.bot)
            if player is None:
                continue
            if isinstance(event, Joined) and event.bot == update.bot:
                # even if the match is over, so that its seats have no place any more
                try:
                    update = with_missed(self.conductor, player, update, answer.match)
                except Unavailable:
                    if update.place not in (None, player.place):
                        # the match is over, and another connection had the seat: no look would tell this one
                        raise
                    # the player is seated, and the next look tells it
                    self._look_later(table.match_id)
                else:
                    self.deliver(table, player, update, answer.reply)
            elif update.place in (None, player.place):
                # a player that sits here while its seat is empty was wrongly taken for gone
                if player.table is not table:
                    self.tables.seat(table, player)
                self.deliver_after_missed(table, player, update, answer.reply)
        self._seat_again(table, answer.match)
        if answer.then is not None:
            # both bots are told how this board ended before either is asked on the next
            self._follow(answer.then, players)

    def _follow(self, answer: Step, players: Mapping[str, Player]) -> None:
        with self.tables.at(answer.match.id) as table:
            self._tell(table, answer, players)
            for seat in answer.match.seats if answer.match.verdict is None else ():
                # an absent bot has no longer for this board than it had for the one before
                self._look_when_due(table.match_id, seat)

    def _seat_again(self, table: Table, match: Match) -> None:
        """Gives a player that sits here its empty seat back: this node stalled, or Redis was away."""
        if match.verdict is not None:
            return
        for seat in match.seats:
            if seat.place is None and (player := table.players.get(seat.bot)) is not None:
                self.sit_again(table, player)
                return

    def sit_again(self, table: Table, player: Player) -> None:
        """Gives a player of this node its empty seat back, its clock having been stopped meanwhile.

        If another connection already has the seat, that one keeps it, and the player's connection is closed.
        """
        player.pause_clock()
        self.conduct(table, Joined(player.bot, player.place, if_empty=True))
        match = table.known()
        seat = None if match is None else match.seat_of(player.bot)
        if player.table is not table or seat is None:
            return
        if seat.place == player.place:
            log.info("match.sat_again", match=table.match_id, bot=player.bot)
        elif seat.place is not None:
            self.tables.unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)

    def seat(self, table: Table, player: Player, version: int) -> None:
        """Seats the player, who is about to be told the match at `version`.

        A player that waited for the match and was not told when it began is told its beginning first.
        """
        comes = player.table is not table
        self.tables.seat(table, player)
        match = table.known() if comes and version else None
        if match is None or match.seat_of(player.bot) is None:
            return
        update = beginning_for(self.conductor.registry[match.game], match, player.bot)
        if update is not None:
            player.tell(update)

    def deliver(self, table: Table, player: Player, shown: Shown, reply: bool = False) -> None:
        """Tells a player an update; the final one also finishes the match for the player."""
        player.tell(shown, reply)
        if shown.final:
            self.finish(table, player)

    def deliver_after_missed(self, table: Table, player: Player, shown: Shown, reply: bool = False) -> None:
        """Like `deliver`; a player that has not been told yet what it missed is told both by the next look."""
        if player.seen_of(table.match_id) is None:
            self.deliver(table, player, shown, reply)
        else:
            self._look_later(table.match_id)

    def finish(self, table: Table, player: Player) -> None:
        """Unseats a player whose match is over: it waits at its place for the board that follows, or is released."""
        match = table.readable()
        self.tables.unseat(table, player)
        player.finished_matches += 1
        player.finished = table.match_id
        player.was_spoilt = match is None or match.verdict is None or match.verdict.fault is Fault.SERVER
        player.played_matches += not player.was_spoilt
        self.tables.drop_if_empty(table)
        if match is not None and match.verdict is not None and match.goes_on and not player.gone:
            self.tables.expect(player)
        else:
            player.release()

    def leave(self, table: Table, event: Left | Orphaned) -> None:
        """Empties the seat of a connection that is gone or was never there, and schedules a look at it."""
        ended_s = event.at_s if isinstance(event, Left) and event.at_s is not None else self.conductor.now_s()
        try:
            self.conduct(table, event)
            seat = table.newest().seat_of(event.bot)
        except (Unavailable, UnknownMatch, UnreadableMatch) as error:
            # the sweep finds the seat of a place that nobody holds
            log.warning("match.left_late", match=table.match_id, bot=event.bot, error=str(error))
            if isinstance(error, UnreadableMatch):
                self._abandon(table.match_id, [(event.bot, event.place)])
            self.tables.drop_if_empty(table)
            return
        if seat is not None:
            # if this took long, the bot may wait at another node, which sees no sooner that the seat is empty
            is_late = self.conductor.now_s() - ended_s > LOOK_LATE_S
            self._look_when_due(table.match_id, seat, AGAIN_S if is_late else -math.inf)
        log.info("match.left", match=table.match_id, bot=event.bot, how=event.how)
        self.tables.drop_if_empty(table)

    def _look_when_due(self, match_id: str, seat: Seat, least_s: float = -math.inf) -> None:
        """Schedules a look for when the bot's time is over, and at least `least_s` from now."""
        if seat.back_by_s is not None:
            in_s = seat.back_by_s - self.conductor.now_s() + READING_S
            self._look_at(match_id, time.monotonic() + max(in_s, least_s))

    def _look_at(self, match_id: str, moment_s: float) -> None:
        self._timers.at(moment_s, partial(in_background, self._overdue, match_id, moment_s))

    def _overdue(self, match_id: str, moment_s: float) -> None:
        # who is away is missed only if the door was open at the end of its time
        asked_s = time.monotonic()
        self._opening.look(READING_S)
        moment_s += time.monotonic() - asked_s
        with self.tables.at(match_id) as table:
            try:
                table.load()
                now_s = time.monotonic()
                if now_s > moment_s + LOOK_LATE_S:
                    # the server or Redis stalled: a bot that came back meanwhile may still be on its way in
                    self._look_at(match_id, now_s + AGAIN_S)
                    return
                self.conduct(table, Overdue())
                match = table.known()
                if match is not None and match.due_s is not None and match.due_s <= self.conductor.now_s():
                    # whether its door was open is not known yet
                    self._look_at(match_id, time.monotonic() + AGAIN_S)
            except UnknownMatch:
                self.lost(match_id)
            except UnreadableMatch as error:
                self.send_away(table, error)
            except Unavailable as error:
                # the sweep finds it
                log.warning("match.overdue_put_off", match=match_id, error=str(error))

    def lost(self, match_id: str) -> None:
        """Ends a match that Redis has lost, for the players at this node: by the server's fault, unless it was over."""
        table = self.tables.find(match_id)
        if table is None:
            return
        with table.lock:
            held = table.readable()
            players = list(table.players.values())
            for update in self._last_updates(held) if held is not None else ():
                if update.bot in table.players:
                    self.deliver(table, table.players[update.bot], update)
            for player in players:
                if player.table is table:
                    self.tables.unseat(table, player)
                    player.channel.close(closing.SERVER_ERROR)
            self.tables.drop_if_empty(table)

    def _last_updates(self, match: Match) -> Sequence[Update]:
        game = self.conductor.registry[match.game]
        if match.verdict is not None:  # it has been archived
            return [update_for(game, match, seat) for seat in match.seats]
        log.error("match.lost", match=match.id, game=match.game, contest=match.contest)
        return step(game, match, Failed("the live match was lost"), self.conductor.now_s()).updates

    def send_away(self, table: Table, error: UnreadableMatch, waiting: Player | None = None) -> None:
        """Closes the connections of this node's players of a match that it cannot read, as another version wrote it.

        They may come back to their seats at a node that can. `waiting` is a player that waits for the match to begin.
        """
        players = list(table.players.values())
        if waiting is not None and self.tables.expected(waiting.place) is waiting:
            players.append(waiting)
        log.error("match.unreadable", match=table.match_id, players=[one.bot for one in players], error=str(error))
        table.forget()
        # first: the bots may be back before their connections are closed
        self._abandon(table.match_id, [(one.bot, one.place) for one in players])
        for player in players:
            if player.table is table:
                self.tables.unseat(table, player)
            player.channel.close(closing.UNAVAILABLE)
        self.tables.drop_if_empty(table)

    def _abandon(self, match_id: str, places: Sequence[tuple[str, str]]) -> None:
        """Asks all other nodes to empty the seats of these `(bot, place)`: while this one lives, no sweep would."""
        store = self.conductor.store
        try:
            for node in self.conductor.heartbeats.all() if places else ():
                if node != self.conductor.node:
                    for bot, place in places:
                        store.post(node, abandoned(match_id, bot, place))
        except Unavailable as error:
            # in the end the match is void, as one in which nothing happens
            log.warning("letter.not_sent", match=match_id, error=str(error))

    def empty(self, match_id: str, bot: str, place: str) -> None:
        """Empties a seat that another node has abandoned, unless the bot is back or this node cannot play the match."""
        with self.tables.at(match_id) as table:
            try:
                match = table.load()
                seat = match.seat_of(bot)
                if seat is not None and seat.place == place and match.verdict is None:
                    self.leave(table, Orphaned(bot, place, closing.UNAVAILABLE.slug))
            except UnreadableMatch as error:
                self.send_away(table, error)
            except (Unavailable, UnknownMatch, UnknownGame) as error:
                log.warning("match.left_late", match=match_id, bot=bot, error=str(error))
