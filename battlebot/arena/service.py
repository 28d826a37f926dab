"""The arena of a web node: brings its players' turns to the matches, and the matches' updates to its players."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

import orjson
import structlog

from battlebot.arena import keys
from battlebot.arena.conduct import Conductor, Mail
from battlebot.arena.player import Player
from battlebot.arena.store import decode_match
from battlebot.arena.timers import Timers, in_background
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.referee.events import Event, Failed, Joined, Left, Orphaned, Overdue, TimedOut, Turned
from battlebot.referee.match import Match
from battlebot.referee.step import step, update_for
from battlebot.wire import closing
from battlebot.wire.updates import Update

log = structlog.get_logger()

# after a clock's end: what arrived in time must be read before the time-out is called
READING_S = 0.05
AGAIN_S = 1.0  # until a verdict that could not be committed is tried again


class Table:
    """A live match of which this node holds at least one seat.

    The lock orders what the node does with it: whoever holds it steps, commits and delivers.
    """

    def __init__(self, arena: Arena, match_id: str) -> None:
        self.arena = arena
        self.match_id = match_id
        self.lock = threading.RLock()
        self.match: Match | None = None
        self.document: str | None = None
        self.players: dict[str, Player] = {}

    def newest(self) -> Match:
        """The match as this node knows it. Raises UnknownMatch, Unavailable."""
        if self.document is not None:
            self.match, self.document = decode_match(self.document), None
        if self.match is None:
            self.match = self.arena.conductor.store.load(self.match_id)
        return self.match

    def clock_started(self, player: Player) -> None:
        """The update that asks the player has been written: its clock runs."""
        self.arena.watch_clock(player)


class Arena:
    """All tables of a node. `release(player)` is called when a player's match is over or its seat is lost."""

    def __init__(self, conductor: Conductor, timers: Timers, release: Callable[[Player], None]) -> None:
        self.conductor = conductor
        self.node = conductor.node
        self._timers = timers
        self._release = release
        self._tables: dict[str, Table] = {}
        self._expected: dict[str, Player] = {}
        self._guard = threading.Lock()

    def expect(self, player: Player) -> None:
        """The player waits at `player.place` for a match to begin."""
        self._expected[player.place] = player

    def expect_no_more(self, player: Player) -> None:
        """The player does not wait at its place any more."""
        self._expected.pop(player.place, None)

    def turned(
        self, player: Player, turn: dict[str, object] | None, received_s: float, refusal: str | None = None
    ) -> None:
        """A player sent a turn (None: unreadable, `refusal` says why) whose bytes arrived at `received_s` (monotonic).

        Raises Unavailable if nobody knows whether it was committed: when Redis is back the bot is told, or asked again.
        """
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.table is not table:
                return
            try:
                event = Turned(player.bot, turn, player.thinking_s(received_s), refusal)
                self._conduct(table, event)
            except Unavailable:
                # it may have been committed all the same: what is there is looked up, and the bot asked again
                table.match = table.document = None
                player.stop_clock()
                self._timers.at(time.monotonic() + AGAIN_S, partial(in_background, self._recover, table.match_id))
                raise

    def _recover(self, match_id: str) -> None:
        try:
            self.look_after(match_id)
        except Unavailable:
            self._timers.at(time.monotonic() + AGAIN_S, partial(in_background, self._recover, match_id))

    def join(self, player: Player, match_id: str) -> bool:
        """Gives the player its seat in a live match back, with the current state; False if it has none there.

        A seat that another connection of the bot holds is taken over. Raises Unavailable.
        """
        table = self._table(match_id)
        with table.lock:
            try:
                table.match = self.conductor.store.load(match_id)
                seat = table.match.seat_of(player.bot)
                fits = seat is not None and table.match.game == player.login.game
                if not fits or table.match.contest != player.login.contest or table.match.verdict is not None:
                    self._drop_if_empty(table)
                    return False
                assert seat is not None
                alive_s = self._alive_s(seat.place)
                self._seat(table, player)
                self._conduct(table, Joined(player.bot, player.place, alive_s))
            except UnknownMatch:
                self._drop_if_empty(table)
                return False
        log.info("match.joined", match=match_id, bot=player.bot)
        return True

    def _alive_s(self, place: str | None) -> float | None:
        """Until when the node of an occupied place is known to have lived; a dead node's time is not the bot's."""
        if place is None or keys.node_of(place) == self.node:
            return None
        return self.conductor.store.heartbeat_s(keys.node_of(place)) or 0.0

    def left(self, player: Player, clean: bool) -> None:
        """A player's connection is gone; `clean` if it said goodbye."""
        self.expect_no_more(player)
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.table is not table:
                return
            thinking_s = player.thinking_s()
            self._unseat(table, player)
            self._leave(table, player.bot, player.place, clean, thinking_s)

    def _leave(self, table: Table, bot: str, place: str, clean: bool, thinking_s: float) -> None:
        try:
            self._conduct(table, Left(bot, place, clean, thinking_s))
            seat = table.newest().seat_of(bot)
        except (Unavailable, UnknownMatch):
            # the sweep finds the seat of a place that nobody holds
            self._drop_if_empty(table)
            return
        if seat is not None and seat.back_by_s is not None:
            in_s = seat.back_by_s - self.conductor.now_s()
            look = partial(in_background, self._overdue, table.match_id)
            self._timers.at(time.monotonic() + in_s + READING_S, look)
        log.info("match.left", match=table.match_id, bot=bot, clean=clean)
        self._drop_if_empty(table)

    def on_mail(self, letter: bytes) -> None:
        """A letter from the node's mailbox. Letters are handled in their order."""
        message = orjson.loads(letter)
        match message.pop("do"):
            case "update":
                self._on_update(Mail(**message))
            case "evict":
                self._on_eviction(message["place"])
            case "nudge":
                in_background(self._nudged, message["match_id"])

    def _nudged(self, match_id: str) -> None:
        try:
            self.look_after(match_id)
        except Unavailable as error:
            log.warning("match.nudge_put_off", match=match_id, error=str(error))

    def look_after(self, match_id: str) -> None:
        """Brings every seat of this node in a match up to date: letters may have been lost."""
        try:
            match = self.conductor.store.load(match_id)
        except UnknownMatch:
            self._lost(match_id)
            return
        table = self._table(match_id)
        with table.lock:
            table.match, table.document = match, None
            game = self.conductor.registry[match.game]
            for seat in match.seats:
                if seat.place is None or keys.node_of(seat.place) != self.node:
                    continue
                player = table.players.get(seat.bot) or self._expected.get(seat.place)
                if player is None or player.place != seat.place:
                    self._leave(table, seat.bot, seat.place, False, 0.0)
                    continue
                self._seat(table, player)
                unasked = seat.bot in game.awaited(match.state) and player.asked_version != match.version
                self._deliver(table, player, update_for(game, match, seat), reply=unasked)
            self._drop_if_empty(table)

    def look_after_all(self) -> None:
        """Brings all seats up to date: the mailbox was unreadable for a time."""
        for match_id in list(self._tables):
            try:
                self.look_after(match_id)
            except Unavailable:
                return

    def rejoin_all(self) -> None:
        """Takes every seat of this node's players again that was emptied meanwhile. Raises Unavailable.

        Who has sat down elsewhere meanwhile keeps that seat; of a match that is over its end is told.
        """
        for table in list(self._tables.values()):
            with table.lock:
                for player in list(table.players.values()):
                    self._rejoin(table, player)
                self._drop_if_empty(table)

    def _rejoin(self, table: Table, player: Player) -> None:
        table.match = table.document = None
        try:
            match = table.newest()
        except UnknownMatch:
            self._lost(table.match_id)
            return
        seat = match.seat_of(player.bot)
        if seat is None or seat.place == player.place:
            return
        if seat.place is not None:
            self._unseat(table, player)
            player.channel.close(closing.TAKEN_OVER)
        elif match.verdict is not None:
            self._deliver(table, player, update_for(self.conductor.registry[match.game], match, seat))
        else:
            player.stop_clock()  # it stood while this node did
            self._conduct(table, Joined(player.bot, player.place))

    def orphaned(self, player: Player) -> None:
        """A player's connection was ended by the server's own doing: its seat is kept, its clock stopped."""
        self.expect_no_more(player)
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.table is table:
                self._unseat(table, player)
                try:
                    self._conduct(table, Orphaned(player.bot, player.place))
                except Unavailable as error:
                    # the sweep finds the seat of a place that nobody holds
                    log.warning("match.orphaned_late", match=table.match_id, error=str(error))
                self._drop_if_empty(table)

    def watch_clock(self, player: Player) -> None:
        """Looks at the player's clock when it will have run out: one timer a player, not one a turn."""
        if player.asked_s is not None:
            until_s = time.monotonic() + player.remaining_s - player.thinking_s() + READING_S
            if player.watched_until_s is None or until_s < player.watched_until_s:
                player.watched_until_s = until_s
                self._timers.at(until_s, partial(self._look_at_clock, player, until_s))

    def _look_at_clock(self, player: Player, watched_until_s: float) -> None:
        if player.watched_until_s != watched_until_s:
            return
        player.watched_until_s = None
        if player.asked_s is None:
            return
        if player.thinking_s() < player.remaining_s + READING_S / 2:
            self.watch_clock(player)
        else:
            in_background(self._clock_over, player, player.asked_s)

    def _clock_over(self, player: Player, asked_s: float) -> None:
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.asked_s == asked_s and player.table is table:
                try:
                    self._conduct(table, TimedOut(player.bot, player.asked_version, player.thinking_s()))
                except Unavailable as error:
                    log.warning("match.timeout_put_off", match=table.match_id, error=str(error))
                    self._timers.at(time.monotonic() + AGAIN_S, partial(self.watch_clock, player))

    def _overdue(self, match_id: str) -> None:
        table = self._table(match_id)
        with table.lock:
            try:
                table.match, table.document = self.conductor.store.load(match_id), None
                self._conduct(table, Overdue())
            except UnknownMatch:
                self._lost(match_id)
            except Unavailable as error:
                # the sweep finds it
                log.warning("match.overdue_put_off", match=match_id, error=str(error))
            self._drop_if_empty(table)

    def _on_update(self, mail: Mail) -> None:
        player = self._expected.get(mail.place)
        table = self._table(mail.match_id)
        with table.lock:
            if player is None:
                player = table.players.get(mail.bot)
            if player is None or player.place != mail.place or player.gone:
                if not mail.final:
                    table.document = mail.document
                    self._leave(table, mail.bot, mail.place, True, 0.0)
                self._drop_if_empty(table)
                return
            self._seat(table, player)
            if mail.revision >= player.told[0]:
                table.document = mail.document
            player.tell(mail)
            if mail.final:
                self._finish(table, player)

    def _on_eviction(self, place: str) -> None:
        for table in list(self._tables.values()):
            for player in list(table.players.values()):
                if player.place == place:
                    with table.lock:
                        self._unseat(table, player)
                    player.channel.close(closing.TAKEN_OVER)
                    return

    def _conduct(self, table: Table, event: Event) -> None:
        try:
            answer = self.conductor.conduct(table.newest(), event)
        except UnknownMatch:
            self._lost(table.match_id)
            return
        table.match, table.document = answer.match, None
        for update in answer.updates:
            player = table.players.get(update.bot)
            seat = answer.match.seat_of(update.bot)
            if player is not None and seat is not None and seat.place == player.place:
                self._deliver(table, player, update, answer.reply)

    def _deliver(self, table: Table, player: Player, update: Update, reply: bool = False) -> None:
        player.tell(Mail.of(player.place, update, b""), reply)
        if update.final:
            self._finish(table, player)

    def _finish(self, table: Table, player: Player) -> None:
        self._unseat(table, player)
        player.finished_matches += 1
        self._drop_if_empty(table)
        self._release(player)

    def _lost(self, match_id: str) -> None:
        """Redis has lost the match: it ends here, by the server's fault, for whoever sits at this node."""
        table = self._tables.get(match_id)
        if table is None:
            return
        with table.lock:
            held = decode_match(table.document) if table.document is not None else table.match
            players = list(table.players.values())
            if held is not None:
                log.error("match.lost", match=match_id, game=held.game, contest=held.contest)
                game = self.conductor.registry[held.game]
                answer = step(game, held, Failed("the live match was lost"), self.conductor.now_s())
                for update in answer.updates:
                    if update.bot in table.players:
                        self._deliver(table, table.players[update.bot], update)
            for player in players:
                if player.table is table:
                    self._unseat(table, player)
                    player.channel.close(closing.SERVER_ERROR)
            self._drop_if_empty(table)

    def _table(self, match_id: str) -> Table:
        with self._guard:
            return self._tables.setdefault(match_id, Table(self, match_id))

    def _seat(self, table: Table, player: Player) -> None:
        self._expected.pop(player.place, None)
        other = table.players.get(player.bot)
        if other is not None and other is not player:
            self._unseat(table, other)
            other.channel.close(closing.TAKEN_OVER)
        with self._guard:
            self._tables[table.match_id] = table
        if player.table is not table:
            player.forget_clock()
            player.table = table
        table.players[player.bot] = player

    def _unseat(self, table: Table, player: Player) -> None:
        if table.players.get(player.bot) is player:
            del table.players[player.bot]
        player.table = None
        player.forget_clock()

    def _drop_if_empty(self, table: Table) -> None:
        with self._guard:
            if not table.players and self._tables.get(table.match_id) is table:
                del self._tables[table.match_id]
