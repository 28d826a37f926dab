"""Where a node's players wait between login and match. Outside contests it pairs them; in one it asks for pairing."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

import structlog

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.mail import freed
from battlebot.arena.live.queue import BY_A_TASK, Begun, Plays, Queues, Seats, Taken, Ticket, Waits
from battlebot.arena.live.seats import has_seat
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.arena.places import is_stateless, node_of
from battlebot.config import Settings
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.redisio import keys
from battlebot.rules.contract import Game
from battlebot.runtime.background import in_background
from battlebot.wire import closing

log = structlog.get_logger()

CHUNK = 500  # tickets per script call
MOST = 2000  # players looked at in a tick; if more wait, each has its turn every few ticks
HOLD_S = 1.0  # within which a live node notices that a connection is broken


@dataclass(frozen=True, slots=True)
class Doubt:
    """A bot that came while it plays `match`: its other connection may be broken, and nobody has noticed it yet.

    `beat_s` (epoch) is the first heartbeat, at least `HOLD_S` after the bot came, of the other connection's node.
    """

    match: str
    beat_s: float | None = None


@dataclass(frozen=True, slots=True)
class Waiter:
    """A player that waits, with its queue and its ticket: made once, used every second."""

    player: Player
    queue: str
    ticket: Ticket

    @property
    def patient(self) -> bool:
        """Whether it waits without a time limit."""
        return self.player.login.contest is not None or bool(self.player.traits.boards)

    @classmethod
    def of(cls, player: Player) -> Waiter:
        """Returns the waiter for a player at its present place."""
        queue = keys.queue_name(player.login.game, player.login.contest)
        return cls(player, queue, Ticket(player.place, player.bot, player.waiting_since_s))


class ContestDoor(Protocol):
    """What the lobby needs of the contests."""

    def enter(self, game: str, contest: str, bot: str, address: str) -> None:
        """Lets the bot into the contest. Raises ContestClosed, TooMany, Unavailable."""


@dataclass
class Lobby:
    """A node's waiting players. `ask_pairing(game, contest)` enqueues a task; it does not raise."""

    registry: Mapping[str, Game]
    settings: Settings
    store: MatchStore
    queues: Queues
    heartbeats: Heartbeats
    contests: ContestDoor
    casual: CasualMatches
    ask_pairing: Callable[[str, str], None]
    now_s: Callable[[], float]
    arena: Arena
    _waiting: dict[str, Waiter] = field(default_factory=dict)
    _coming: set[str] = field(default_factory=set)  # places of players in `enter`, not yet known to wait
    _doubts: dict[str, Doubt] = field(default_factory=dict)
    _look_again: set[str] = field(default_factory=set)
    _looked_at: int = 0  # of those who wait, in the order of their coming, at the last tick
    _late: list[tuple[str, Ticket]] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, player: Player, address: str) -> None:
        """Checks that the bot, connected from `address`, may wait where it wants to.

        A bot with a seat in a live match of its contest may come back to it while the contest cannot be looked up.
        Raises ContestClosed, TooMany if it would open one contest too many, Unavailable.
        """
        login = player.login
        if login.contest is None:
            return
        try:
            self.contests.enter(login.game, login.contest, login.bot_id, address)
        except Unavailable:
            if not has_seat(self.store, login.bot_id, login.game, login.contest):
                raise
            log.info("contest.entered_by_seat", game=login.game, contest=login.contest, bot=login.bot_id)

    def enter(self, player: Player, may_take: bool = True) -> None:
        """Gives the player an empty seat of its own back or a match, or has it wait. Raises Unavailable.

        Without `may_take` it waits to be taken along by others, until `look_again`.
        """
        place = player.new_place(self.arena.node, self.now_s())
        with self._guard:
            self._waiting[place] = Waiter.of(player)
            self._coming.add(place)
        try:
            self._come(player, may_take)
        finally:
            self._coming.discard(place)

    def _come(self, player: Player, may_take: bool) -> None:
        self.arena.expect(player)
        login = player.login
        if login.resume is not None and not player.finished_matches and self.arena.join(player, login.resume):
            self._sits(player)
        else:
            # a door that knows its players' connections takes the seat over; and a kept connection is not broken
            in_doubt = not player.traits.boards and not player.finished_matches
            self._wait(player, look_for_seats=True, may_take=may_take, hold=in_doubt)

    def look_again(self, player: Player) -> None:
        """Lets a player that still waits take an opponent along, if there is one. Raises Unavailable."""
        if self._waiters([player.place]):
            self._wait(player, look_for_seats=False)

    def leave(self, player: Player) -> None:
        """Takes out a player that waits no more: its connection is gone, as the arena knows already."""
        if self._seated(player):
            self._take_out(self._queue(player), self._ticket(player))

    def tick(self) -> None:
        """Call every second: closes those who waited too long, tells Redis who still waits. Raises Unavailable.

        If more than `MOST` wait, that is done for so many of them at a time.
        """
        late, self._late = self._late, []
        for name, ticket in late:
            self._take_out(name, ticket)
        places = self._in_turn()
        waiters = self._waiters(places)
        if self._close_the_lonely(waiters):
            waiters = self._waiters(places)
        # a ticket made for a player still in `enter`, which may get a seat or be held back, would win it another match
        waiters = [waiter for waiter in waiters if waiter.ticket.place not in self._coming]
        overlooked, self._look_again = self._look_again, set()
        self._doubts = {place: doubt for place, doubt in self._doubts.items() if place in self._waiting}
        try:
            self._ask_for(waiters, overlooked)
        except Unavailable:
            # the lost answer may have said whose ticket was put back; in a contest the sweep asks for pairing
            self._look_again.update(one.ticket.place for one in waiters if one.player.login.contest is None)
            raise

    def _ask_for(self, waiters: Sequence[Waiter], overlooked: Set[str]) -> None:
        by_queue = defaultdict(list)
        for waiter in waiters:
            player, place = waiter.player, waiter.ticket.place
            if place != player.place:
                continue  # it was given a match meanwhile, and may already wait at another place
            if place in self._doubts:
                self._wait(player, look_for_seats=True, hold=self._may_be_broken(player, self._doubts[place]))
            elif place in overlooked:
                self._wait(player, look_for_seats=True)
            else:
                by_queue[waiter.queue].append(waiter)
        for name, waiting in by_queue.items():
            for at in range(0, len(waiting), CHUNK):
                self._say_again(name, waiting[at : at + CHUNK])

    def _wait(self, player: Player, *, look_for_seats: bool, may_take: bool = True, hold: bool = False) -> None:
        login = player.login
        by_task = login.contest is not None or not may_take
        found = self.queues.wait(
            self._queue(player),
            self._ticket(player),
            BY_A_TASK if by_task else self.registry[login.game].usual_players - 1,
            look_for_seats=look_for_seats,
            strangers_first=bool(player.traits.boards),
            hold_if_playing=hold,
        )
        doubt = self._doubts.pop(player.place, None)
        match found:
            case Plays(match_id):
                self._doubts[player.place] = doubt if doubt and doubt.match == match_id else Doubt(match_id)
            case Seats(match_ids):
                if not self._sits_down(player, match_ids):
                    self._wait(player, look_for_seats=False, may_take=may_take, hold=hold)
            case _ if player.table is not None or player.gone:
                self._needs_no_match(player, found)
            case Begun(match_id):
                self.arena.look_for(match_id, player)
            case Taken(others):
                self._pair(player, others)
            case Waits():
                self._waits(player, found)

    def _sits_down(self, player: Player, match_ids: Sequence[str]) -> bool:
        """Gives the player the first of these seats that is still there for it; returns False if none is."""
        # a door that knows its players by name finds held seats, too; elsewhere the seat was empty a moment ago: if
        # it is no more, another connection of the bot has come for it
        if_empty = not player.traits.boards
        if not any(self.arena.join(player, match_id, if_empty=if_empty) for match_id in match_ids):
            return False
        self._sits(player)
        return True

    def _needs_no_match(self, player: Player, found: Begun | Taken | Waits) -> None:
        """The tick and the player's own `enter` may both ask: meanwhile the other was given a seat, or it is gone."""
        self._sits(player)
        if isinstance(found, Taken):
            self._give_back(player, found.others)

    def _pair(self, player: Player, others: Sequence[Ticket]) -> None:
        waiting = [(player.bot, player.place), *((other.bot, other.place) for other in others)]
        game = self.registry[player.login.game]
        self.casual.begin(game, waiting, self._queue(player), self._ticket(player).text)

    def _waits(self, player: Player, found: Waits) -> None:
        login = player.login
        if found.ask_pairing and login.contest is not None:
            self.ask_pairing(login.game, login.contest)
        elif found.left_out:
            self._look_again.add(player.place)

    def _give_back(self, player: Player, others: Sequence[Ticket]) -> None:
        """Gives back tickets taken along by a player that needs no match; other nodes are told by a letter."""
        try:
            self.queues.give_back(self._ticket(player), others)
            for other in others:
                node = node_of(other.place)
                if node == self.arena.node:
                    self._wait_on(other.place)
                else:
                    self.store.post(node, freed(other.place))
        except Unavailable as error:
            # the tickets are held for a while, then the ticks of their nodes put them back
            log.warning("tickets.given_back_late", bot=player.bot, error=str(error))

    def on_freed(self, place: str) -> None:
        """Has the player at `place` wait on: another node took its ticket along and needs no match. Returns at once."""
        in_background(self._freed, place)

    def _freed(self, place: str) -> None:
        try:
            self._wait_on(place)
        except Unavailable as error:
            # the tick puts it back
            log.warning("tickets.given_back_late", place=place, error=str(error))

    def _wait_on(self, place: str) -> None:
        waiter = self._waiting.get(place)
        if waiter is not None and waiter.player.place == place:
            self._wait(waiter.player, look_for_seats=False)

    def _may_be_broken(self, player: Player, doubt: Doubt) -> bool:
        """Returns whether the bot's other connection may have ended unnoticed, because its node is dead.

        Two heartbeats show that the node lives: after the first, a node that had stalled may be about to notice.
        """
        try:
            seat = self.store.load(doubt.match).seat_of(player.bot)
        except UnknownMatch:
            return False
        if seat is None or seat.place is None or is_stateless(seat.place):
            return False
        beat_s = self.heartbeats.last_s(node_of(seat.place))
        if doubt.beat_s is None and beat_s >= player.waiting_since_s + HOLD_S:
            self._doubts[player.place] = replace(doubt, beat_s=beat_s)
        return doubt.beat_s is None or beat_s <= doubt.beat_s

    def _say_again(self, name: str, waiters: list[Waiter]) -> None:
        # earlier chunks took time: a player given a match meanwhile may already wait at another place
        waiters = [waiter for waiter in waiters if waiter.ticket.place == waiter.player.place]
        answers = self.queues.wait_again(name, [waiter.ticket for waiter in waiters])
        for waiter, (match_id, empty_seat, put_back) in zip(waiters, answers, strict=True):
            player = waiter.player
            if put_back:
                # it was held for a match that never began, or Redis lost it: others may have come meanwhile
                self._look_again.add(player.place)
            if player.table is not None or player.gone:
                self._sits(player)
            elif match_id is not None:
                self.arena.look_for(match_id, player)
            elif empty_seat and self.queues.leave(name, waiter.ticket):
                # only a player that has left the queue may sit down elsewhere
                self._wait(player, look_for_seats=True)

    def _take_out(self, name: str, ticket: Ticket) -> None:
        try:
            self.queues.leave(name, ticket)
        except Unavailable:
            self._late.append((name, ticket))

    def _close_the_lonely(self, waiters: Sequence[Waiter]) -> bool:
        """Closes those who waited too long; returns whether there were any to look at."""
        before_s = self.now_s() - self.settings.waiting_timeout_s
        # a door that pairs by name cannot tell its players that nobody came
        lonely = [one for one in waiters if one.ticket.since_s < before_s and not one.patient]
        for waiter in lonely:
            player = waiter.player
            # if its ticket is gone, it may just have been taken along: then the match is on its way
            if waiter.ticket.place in self._doubts or self.queues.leave(waiter.queue, waiter.ticket):
                self._seated(player)
                player.channel.close(closing.NOBODY_CAME)
        return bool(lonely)

    def _in_turn(self) -> Collection[str]:
        """Returns the places to look at in this tick: `MOST` in turn, and those that must not wait for their turn."""
        with self._guard:
            places = list(self._waiting)
        first = self._looked_at if self._looked_at < len(places) else 0
        self._looked_at = first + MOST
        return dict.fromkeys([*places[first : first + MOST], *self._doubts, *self._look_again])

    def _waiters(self, places: Iterable[str]) -> list[Waiter]:
        """Returns those who still wait at these places, and forgets those who got a seat meanwhile.

        A player that is gone is kept: otherwise `leave`, which is still to come, would leave its ticket behind.
        """
        waiters = []
        with self._guard:
            for place in places:
                waiter = self._waiting.get(place)
                if waiter is None:
                    continue
                if waiter.player.table is not None or waiter.player.place != place:
                    del self._waiting[place]
                elif not waiter.player.gone:
                    waiters.append(waiter)
        return waiters

    def _seated(self, player: Player) -> bool:
        with self._guard:
            return self._waiting.pop(player.place, None) is not None

    def _sits(self, player: Player) -> None:
        """Takes out a player that has a seat: its ticket, which the tick may have put back, must not win it another."""
        self._seated(player)
        self._take_out(self._queue(player), self._ticket(player))

    def _queue(self, player: Player) -> str:
        return keys.queue_name(player.login.game, player.login.contest)

    def _ticket(self, player: Player) -> Ticket:
        return Ticket(player.place, player.bot, player.waiting_since_s)
