"""The arena of a node, as its door and its lobby see it: players sit down, send turns, leave."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import structlog
from msgspec.structs import replace

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.mail import begun
from battlebot.arena.live.turnedaway import Knock, TurnedAwayAnywhere
from battlebot.arena.node.clocks import Clocks
from battlebot.arena.node.host import SEATED_AFTER_S, Host
from battlebot.arena.node.opening import Opening
from battlebot.arena.node.player import Player
from battlebot.arena.node.post import Post
from battlebot.arena.node.recovery import Recovery
from battlebot.arena.node.tables import Table, Tables
from battlebot.arena.node.turns import Turns
from battlebot.arena.places import node_of
from battlebot.errors import Unavailable, UnknownMatch, UnreadableMatch
from battlebot.referee.events import NODE_DEAD, Joined, Left, Orphaned, Turned
from battlebot.referee.match import Match, Seat
from battlebot.runtime.background import in_background
from battlebot.runtime.lock import Lock
from battlebot.runtime.timers import Timers

log = structlog.get_logger()


class Arena:
    """All that may happen at a node's tables.

    `turns` makes what commits turns of many tables together. `new_lock` makes the locks of tables, taken with every
    turn: a lock for greenlets costs least.
    """

    def __init__(
        self,
        conductor: Conductor,
        timers: Timers,
        opening: Opening,
        turns: Callable[[Host], Turns],
        new_lock: Callable[[], Lock],
    ) -> None:
        self.node = conductor.node
        self.heartbeats = conductor.heartbeats
        self.opening = opening
        self._store = conductor.store
        self._games = conductor.registry
        self._turned_away = TurnedAwayAnywhere(conductor.store.client)
        self._now_s = conductor.now_s
        self._tables = Tables(conductor.store, lambda player: self._clocks.watch(player), new_lock)
        self._host = Host(conductor, self._tables, timers, lambda match_id: self._recovery.later(match_id), opening)
        self._turns = turns(self._host)
        self._clocks = Clocks(self._host, timers)
        self._recovery = Recovery(self._host, timers)

    def post(self, **letters: Callable[..., None]) -> Post:
        """Returns what handles the node's letters; `letters` are handlers for those that are not the arena's own."""
        return Post(self._host, self._recovery, letters)

    def drain(self) -> None:
        """Notes, here and for the sweep, that the node lets nobody in any more. Returns at once."""
        self.opening.drain()
        in_background(self._say_shut)

    def _say_shut(self) -> None:
        with suppress(Unavailable):
            self.heartbeats.shut(self.node)

    def expect(self, player: Player) -> None:
        """Notes that the player waits at its place for a match to begin."""
        self._tables.expect(player)

    def turned(
        self,
        player: Player,
        turn: dict[str, object] | None,
        received_s: float,
        refusal: str | None = None,
        version: int | None = None,
    ) -> None:
        """Takes a player's turn (None: unreadable, `refusal` says why) whose bytes arrived at `received_s` (monotonic).

        If `version` is given, a turn for another version than the match's is ignored. Raises Unavailable if it is
        unknown whether the turn was committed: when Redis is back, the bot is told, or asked again.
        """
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.table is not table:
                return
            try:
                self._host.conduct(table, self._turn_of(player, turn, received_s, refusal, version))
            except Unavailable:
                # so that the bot is asked again if the turn was not committed
                player.stop_clock()
                raise

    def offered(
        self,
        player: Player,
        turn: dict[str, object] | None,
        received_s: float,
        refusal: str | None,
        failed: Callable[[Unavailable], None],
    ) -> bool:
        """Like `turned`, but returns at once; returns False, having done nothing, if that is not possible.

        `failed(error)` is called instead of raising Unavailable.
        """
        table = player.table
        if table is None:
            return False
        return self._turns.take(table, player, self._turn_of(player, turn, received_s, refusal), failed)

    def _turn_of(
        self,
        player: Player,
        turn: dict[str, object] | None,
        received_s: float,
        refusal: str | None,
        version: int | None = None,
    ) -> Turned:
        arrived_s = self._now_s() - (time.monotonic() - received_s)
        thinking_s = player.thinking_s(received_s)
        return Turned(player.bot, turn, thinking_s, refusal, arrived_s, version, player.unforgiving)

    def join(self, player: Player, match_id: str, live: bool = False, if_empty: bool = False) -> bool:
        """Gives the player its seat in a match back, with the current state; returns False if it has none or is gone.

        A player that sits already, here or in another match, keeps that seat and is told nothing. A seat that another
        connection of the bot holds is taken over; with `if_empty`, False is returned instead. If the match is over, the
        player is told the end and released; with `live`, False is returned instead. Raises Unavailable.
        """
        tried = self._turned_away.attempts(player.let_in.knock, player.let_in.proves)
        with self._tables.at(match_id) as table:
            try:
                match = table.load()
                seat = _seat_for(player, match)
                # who is gone meanwhile: while it waited for the lock, a later connection of its bot came for the seat
                if player.gone or seat is None or (live and match.verdict is not None):
                    return False
                event = self._joined(player, seat, table.players.get(player.bot))
                event = replace(event, if_empty=if_empty, tried=tried)
                if player.table is not None:
                    # the lobby's tick and the player's own entering both look for its seat: the other was quicker
                    return True
                if if_empty and seat.place is not None:
                    return False
                if self._is_at_dead_node(seat):
                    # as the sweep would: what the bot had sent there may be lost with the node
                    self._host.conduct(table, Orphaned(player.bot, seat.place or "", NODE_DEAD))
                self._tables.seat(table, player)
                self._host.conduct(table, event)
                if if_empty and not self._sits(table, player):
                    return False
            except (UnknownMatch, UnreadableMatch):
                return False
        log.info("match.joined", match=match_id, bot=player.bot)
        return True

    def _is_at_dead_node(self, seat: Seat) -> bool:
        node = None if seat.place is None or seat.address is not None else node_of(seat.place)
        return node not in (None, self.node) and self.heartbeats.is_gone(str(node))

    def _sits(self, table: Table, player: Player) -> bool:
        """Returns whether a player that joined if its seat was empty has it; else has the player wait at its place."""
        match = table.known()
        seat = None if match is None else match.seat_of(player.bot)
        if player.table is not table or seat is None or seat.place == player.place:
            return True
        # another node, which let another connection of the bot in, was quicker
        self._tables.unseat(table, player)
        self._tables.expect(player)
        return False

    def _joined(self, player: Player, seat: Seat, holder: Player | None) -> Joined:
        """Returns the event of a player that takes the seat; `holder` is the player that sat there at this node.

        The time in which the server let it in is not charged, nor that in which this node stood still, nor the time
        after the node of its last place died. A connection that came before the seat was left is charged until it could
        sit down: otherwise a bot could think for free in a waiting connection, and leave the other one as often as it
        likes.
        """
        place = seat.place
        if holder is not None and holder.place == place:
            return Joined(player.bot, player.place, thinking_s=holder.thinking_s())
        if place is None or node_of(place) == self.node:
            return Joined(player.bot, player.place, self._back_s(player, seat))
        lived_s = self.heartbeats.lived_until_s(node_of(place), self._now_s())
        return Joined(player.bot, player.place, min(lived_s, player.let_in.came_s))

    def _back_s(self, player: Player, seat: Seat) -> float:
        """Returns until when (epoch) a player that takes the seat is charged, less what this node stood still."""
        came_s, left_s = player.let_in.came_s, seat.left_s
        if left_s is None:
            return came_s
        if came_s < left_s:
            return left_s + SEATED_AFTER_S
        # no login is read while this node stands still, and a bot that is given no salt cannot send one
        ahead_s = self._now_s() - time.monotonic()
        return came_s - player.delayed_s(max(left_s, seat.asked_s or 0.0) - ahead_s, came_s - ahead_s)

    def left(self, player: Player, clean: bool, how: str) -> None:
        """Handles the end of a player's connection, by the bot itself (`clean`) or the network; `how` is a slug."""
        ended_s = time.monotonic()
        event = Left(player.bot, player.place, clean, player.thinking_s(ended_s), how, self._now_s())
        self._depart(player, event, ended_s)

    def turned_away(self, knock: Knock, came_s: float) -> None:
        """Notes for all nodes that a login, come at `came_s` (epoch), is turned away. Returns at once."""
        # what is known to be wrong is not kept, whatever its length
        if knock.login.game in self._games and knock.login.is_well_formed:
            in_background(self._note_turned_away, knock, came_s, self._now_s())

    def _note_turned_away(self, knock: Knock, came_s: float, away_s: float) -> None:
        try:
            self._turned_away.note(knock, came_s, away_s)
        except Unavailable as error:
            # without Redis no other node lets it in either
            log.warning("login.kept_out", bot=knock.login.bot_id, error=str(error))

    def orphaned(self, player: Player, how: str) -> None:
        """Handles the end of a player's connection by the server itself: the seat is kept, the clock stopped."""
        self._depart(player, Orphaned(player.bot, player.place, how))

    def _depart(self, player: Player, event: Left | Orphaned, ended_s: float | None = None) -> None:
        self._tables.depart(event)
        # while this waits for the lock, the next board of a series may begin
        while (table := player.table) is not None:
            with table.lock:
                if player.table is table:
                    if isinstance(event, Left):
                        # a turn under way meanwhile was charged by itself, or not taken: the clock has changed
                        event = replace(event, thinking_s=player.thinking_s(ended_s))
                    self._tables.unseat(table, player)
                    self._host.leave(table, event)
        self._tables.depart(event)

    def look_after(self, match_id: str, waiting: Player | None = None) -> None:
        """Brings every seat of this node in a match up to date: letters may have been lost. Raises Unavailable.

        `waiting` is a player that waits for this match to begin.
        """
        self._recovery.look_after(match_id, waiting)

    def look_after_all(self) -> None:
        """Brings all seats of this node up to date, and takes back those that were emptied by mistake."""
        self._recovery.look_after_all()

    def look_for(self, match_id: str, player: Player) -> None:
        """Looks after a match that has begun for a waiting player, if the letter that tells so was lost.

        Otherwise that letter is still queued; telling the player the current state first would make it miss the
        beginning. So the first call posts a letter that is read after it. A second call for the same match means that
        this one is lost, too, and looks after the match at once. Raises Unavailable.
        """
        if player.sought == match_id:
            self.look_after(match_id, player)
        else:
            player.sought = match_id
            self._store.post(self.node, begun(match_id, player.place))


def _seat_for(player: Player, match: Match) -> Seat | None:
    """Returns the seat that the player's bot has in a match; None if its login is for another game or contest."""
    wanted = (player.login.game, player.login.contest)
    return match.seat_of(player.bot) if (match.game, match.contest) == wanted else None
