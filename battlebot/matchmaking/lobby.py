"""Where a node's players wait between login and match. Outside contests it pairs them; in one it asks for pairing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.seats import has_seat
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.config import Settings
from battlebot.errors import Unavailable, UnknownGame
from battlebot.matchmaking.doubts import Doubts, Judgement
from battlebot.matchmaking.search import Search
from battlebot.matchmaking.waiters import Waiters, WaitingPlayer
from battlebot.redisio import keys
from battlebot.rules.contract import Game
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.login import Login

log = structlog.get_logger()

CHUNK = 500  # tickets per script call
LOOKED_AT = 5  # ticks between two looks at the contests in which players wait


class ContestDoor(Protocol):
    """What the lobby needs of the contests."""

    def enter(self, game: str, contest: str, bot: str, address: str) -> str | None:
        """Lets the bot into the contest; returns what `over` does. Raises ContestClosed, TooMany, Unavailable."""

    def end(self, game: str, contest: str, how: str) -> None:
        """Notes that the contest is over, `for-now` or `for-good`. Returns at once."""

    def reopen(self, game: str, contest: str) -> None:
        """Notes that the contest, which was over `for-now`, goes on. Returns at once."""

    def over(self, game: str, contest: str) -> str | None:
        """Returns at once how the contest is over, as far as is known here; None if it is not."""


@dataclass
class Lobby:
    """A node's waiting players. `ask_pairing(game, contest)` enqueues a task; it does not raise."""

    registry: Mapping[str, Game]
    settings: Settings
    store: MatchStore
    queues: Queues
    contests: ContestDoor
    casual: CasualMatches
    ask_pairing: Callable[[str, str], None]
    arena: Arena
    now_s: Callable[[], float] = sharedtime.now_s
    _waiters: Waiters = field(default_factory=Waiters)
    _doubts: Doubts = field(init=False)
    _search: Search = field(init=False)
    _ticks: int = 0

    def __post_init__(self) -> None:
        """Begins without doubts."""
        patience_s = 3 * self.settings.node_timeout_s
        # by then its absence has been judged, where its match can be read
        grace_s = self.settings.node_grace_s + self.settings.node_timeout_s
        self._doubts = Doubts(self.store, self.arena.heartbeats, patience_s, grace_s)
        self._search = Search(
            registry=self.registry,
            store=self.store,
            queues=self.queues,
            casual=self.casual,
            ask_pairing=self.ask_pairing,
            arena=self.arena,
            waiters=self._waiters,
            doubts=self._doubts,
        )

    def admit(self, login: Login, address: str) -> str | None:
        """Checks that the bot, connected from `address`, may wait where it wants to.

        Returns how that is over, if it is a contest that is: `for-now` or `for-good`.
        A bot with a seat in a live match of its contest may come back to it while the contest cannot be looked up.
        Raises UnknownGame if its game has been removed, ContestClosed, TooMany if it would open one contest too many,
        Unavailable.
        """
        if login.game not in self.registry:
            raise UnknownGame(f"There is no game {login.game!r} here any more.")
        if login.contest is None:
            return None
        try:
            return self.contests.enter(login.game, login.contest, login.bot_id, address)
        except Unavailable:
            if not has_seat(self.store, login.bot_id, login.game, login.contest):
                raise
            log.info("contest.entered_by_seat", game=login.game, contest=login.contest, bot=login.bot_id)
            return None

    def enter(self, player: Player, may_take: bool = True) -> None:
        """Gives the player an empty seat of its own back or a match, or has it wait.

        Raises Unavailable; then the player waits until `leave`, and is given what there is for it when Redis is back.
        Without `may_take` it waits to be taken along by others, until `look_again`.
        """
        place = player.new_place(self.arena.node, self.now_s())
        self._waiters.add(player)
        try:
            self._come(player, may_take)
        except Unavailable:
            # Redis may have its ticket, or may have begun a match for it
            self._waiters.overlook([place])
            raise
        finally:
            self._waiters.has_come(place)

    def _come(self, player: Player, may_take: bool) -> None:
        self.arena.expect(player)
        login = player.login
        if login.resume is not None and not player.finished_matches and self._resumes(player, login.resume):
            return
        again = bool(player.finished_matches)
        if again:
            # it may have ended while the player played in it; only protocol 2 keeps sessions
            self._tell_if_over(player)
        # a kept connection is not broken
        self._search.wait(player, look_for_seats=True, may_take=may_take, hold=not again)

    def _resumes(self, player: Player, match_id: str) -> bool:
        """Gives the player its seat in the match that it asks for; returns False if it has none."""
        place = player.place
        if not self.arena.join(player, match_id):
            return False
        # first: a kept session that was told the end comes back while Redis is asked for anything
        self._search.sits(player)
        if player.finished_matches:
            # so that no other connection of its bot, held back for this match, is told the end as well; without Redis
            # one may be, which is better than to send this one away
            with suppress(Unavailable):
                self.store.claim_end(match_id, player.bot, place)
        return True

    def look_again(self, player: Player) -> None:
        """Lets a player that still waits take an opponent along, if there is one. Raises Unavailable."""
        if player.place not in self._doubts and self._waiters.at([player.place]):
            self._search.wait(player, look_for_seats=False)

    def leave(self, player: Player) -> None:
        """Takes out a player that waits no more: its connection is gone, as the arena knows already."""
        waiter = self._waiters.remove(player)
        if waiter is not None:
            self._search.take_out(waiter)

    def tick(self) -> None:
        """Call every second: closes those who waited too long, tells Redis who still waits. Raises Unavailable.

        If more than `MOST` wait, that is done for so many of them at a time.
        """
        self._ticks += 1
        if self._ticks % LOOKED_AT == 0:
            self._tell_who_missed_it()
        self._search.retry()
        overlooked = self._waiters.overlooked()
        places = self._waiters.in_turn({*self._doubts.places(), *overlooked})
        waiters = self._waiters.at(places)
        try:
            if self._close_the_lonely(waiters):
                waiters = self._waiters.at(places)
            # a ticket made for a player still in `enter`, which may get a seat or be held back, would win it another
            # match
            waiters = [waiter for waiter in waiters if not self._waiters.is_coming(waiter)]
            self._doubts.forget_all_but(self._waiters)
            self._ask_for(waiters, overlooked)
        except Exception:
            # the lost answer may have said whose ticket was put back; in a contest the sweep asks for pairing
            self._waiters.overlook(one.place for one in waiters if one.player.login.contest is None)
            # or it was put back for one that has left meanwhile, whom nobody would look at again
            self._search.take_out_later(one for one in waiters if one.player.gone)
            raise

    def _ask_for(self, waiters: Sequence[WaitingPlayer], overlooked: Set[str]) -> None:
        by_queue = defaultdict(list)
        for waiter in waiters:
            player, place = waiter.player, waiter.place
            if waiter.has_moved_on:
                continue
            if place in self._doubts:
                self._look_at_doubt(player)
            elif place in overlooked:
                self._search.wait(player, look_for_seats=True)
            else:
                by_queue[waiter.queue].append(waiter)
        for name, waiting in by_queue.items():
            for at in range(0, len(waiting), CHUNK):
                self._say_again(name, waiting[at : at + CHUNK])

    def _look_at_doubt(self, player: Player) -> None:
        match_id = self._doubts.match_of(player.place)
        judgement = self._doubts.judge(player, self.now_s())
        if judgement is Judgement.UNTOLD and self._is_told_the_end(player, match_id):
            return
        self._search.wait(player, look_for_seats=True, hold_for=match_id if judgement is Judgement.IN_DOUBT else "")

    def _is_told_the_end(self, player: Player, match_id: str) -> bool:
        """Tells the player how the match ended, and releases it; returns False if another connection of its bot does.

        The claim comes first: of several that have come back for one seat, the others wait for matches of their own.
        """
        claimed = self.store.claim_end(match_id, player.bot, player.place)
        if not claimed or not self.arena.join(player, match_id):
            return False
        self._search.sits(player)
        return True

    def on_freed(self, place: str) -> None:
        """Has the player at `place` wait on: another node took its ticket along and needs no match. Returns at once."""
        in_background(self._search.freed, place)

    def on_over(self, game: str, contest: str, how: str = "for-now") -> None:
        """Tells the players who wait in the contest, or come to it, that it is over.

        Nodes and workers of an earlier version do not say how.
        """
        self.contests.end(game, contest, how)
        for waiter in self._waiters.in_queue(keys.queue_name(game, contest)):
            waiter.player.tell_over(how)

    def on_reopened(self, game: str, contest: str) -> None:
        """Has the players who wait in the contest, which goes on, told again when it is over again."""
        self.contests.reopen(game, contest)
        for waiter in self._waiters.in_queue(keys.queue_name(game, contest)):
            waiter.player.forget_for_now()

    def _tell_who_missed_it(self) -> None:
        """Like `on_over`, in all contests: who ends one may be killed, or find Redis away, before it posts letters.

        Nobody posts one when the end of a contest that was finished early has passed: no match is played again then.
        """
        for waiter in self._waiters.everybody():
            if waiter.player.login.protocol >= 2 and waiter.player.told_over != "for-good":
                self._tell_if_over(waiter.player)

    def _tell_if_over(self, player: Player) -> None:
        login = player.login
        how = None if login.contest is None else self.contests.over(login.game, login.contest)
        if how is not None:
            player.tell_over(how)
        else:
            player.forget_for_now()  # the letter that it goes on was lost, or came before the one that it was over

    def _say_again(self, name: str, waiters: list[WaitingPlayer]) -> None:
        # earlier chunks took time: a player given a match meanwhile may already wait at another place
        waiters = [waiter for waiter in waiters if not waiter.has_moved_on]
        answers = self.queues.wait_again(name, [waiter.ticket for waiter in waiters])
        for waiter, (match_id, empty_seat, put_back) in zip(waiters, answers, strict=True):
            player = waiter.player
            if put_back:
                # it was held for a match that never began, or Redis lost it: others may have come meanwhile
                self._waiters.overlook([player.place])
            if player.table is not None or player.gone:
                self._search.sits(player)
            elif match_id is not None:
                self.arena.look_for(match_id, player)
            elif empty_seat and self.queues.leave(name, waiter.ticket):
                # only a player that has left the queue may sit down elsewhere
                self._search.wait(player, look_for_seats=True)

    def _close_the_lonely(self, waiters: Sequence[WaitingPlayer]) -> bool:
        """Closes those who waited too long; returns whether there were any to look at."""
        before_s = self.now_s() - self.settings.waiting_timeout_s
        # a door that pairs by name cannot tell its players that nobody came
        lonely = [one for one in waiters if one.ticket.since_s < before_s and not one.patient]
        for waiter in lonely:
            self._dismiss(waiter, closing.NOBODY_CAME)
        return bool(lonely)

    def dismiss(self, player: Player, reason: Closing) -> None:
        """Closes a player that waits; not one whose match is on its way, or that is coming. Raises Unavailable."""
        for waiter in self._waiters.at([player.place]):
            if not self._waiters.is_coming(waiter):
                self._dismiss(waiter, reason)

    def _dismiss(self, waiter: WaitingPlayer, reason: Closing) -> None:
        # if its ticket is gone, it may just have been taken along: then the match is on its way
        if waiter.place in self._doubts or self.queues.leave(waiter.queue, waiter.ticket):
            self._waiters.remove(waiter.player)
            waiter.player.channel.close(reason)
