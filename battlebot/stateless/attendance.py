"""Keeps stateless bots waiting: a ticket for each of them is in every queue in which it may be matched.

Outside contests they meet connected bots, not one another; in contests they wait if they are entrants.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.queue import BY_A_TASK, NO_SEATS, Found, Queues, Taken, Ticket, Waits
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import is_stateless, stateless_place
from battlebot.config import Settings
from battlebot.contests.contest import Contest
from battlebot.redisio import keys
from battlebot.rules.contract import Game
from battlebot.runtime import sharedtime
from battlebot.stateless.retests import Retests
from battlebot.storage import Storage

log = structlog.get_logger()

BEHIND_S = 10 * 365 * 86_400.0  # how far in the future their tickets are dated: bots that wait are matched first
LATE = 3  # sweeps after which attendance that is taken with each has not been taken
MORE_THAN_WAIT = 1_000_000  # bots: more than any queue holds


@dataclass
class Attendance:
    """`ask_pairing(game, contest)` enqueues a task; it does not raise."""

    registry: Mapping[str, Game]
    settings: Settings
    storage: Storage
    store: MatchStore
    queues: Queues
    heartbeats: Heartbeats
    retests: Retests
    casual: CasualMatches
    ask_pairing: Callable[[str, str], None]
    now_s: Callable[[], float] = sharedtime.now_s

    def look(self) -> int:
        """Brings the tickets up to date; returns how many were added. Raises Unavailable.

        The queues refuse a bot that is made unavailable meanwhile. Contests miss a stateless bot only while this goes
        on: each look that is done says so.
        """
        bots = [bot for bot in self.storage.bots.stateless() if bot["game"] in self.registry]
        if not bots:
            return 0
        busy = self.store.addresses.busy(bot["url"] for bot in bots)
        ready = self._ready(bots, busy)
        contests = self._contests()
        added = sum(self._attend_contest(contest, ready) for contest in contests)
        self._leave_all_but({keys.queue_name(*contest.where) for contest in contests})
        free = self._free(bots, ready, busy, contests)
        for name in {bot["game"] for bot in bots}:
            added += self._attend_game(self.registry[name], [bot for bot in free if bot["game"] == name])
        self.heartbeats.attended(self.now_s(), LATE * self.settings.sweep_interval_s)
        return added

    def _ready(self, bots: Sequence[Mapping[str, Any]], busy: Mapping[str, int]) -> dict[str, Mapping[str, Any]]:
        """Returns the bots that are available, not paused and not busy."""
        paused = self.retests.look(bots)
        return {
            bot["_id"]: bot
            for bot in bots
            if bot["available"] and bot["url"] not in paused and busy[bot["url"]] < self.settings.bot_matches
        }

    def _contests(self) -> list[Contest]:
        """Returns the contests for which bots are asked, in random order.

        Whoever is first gets the next place at an address: in any other order, one contest would wait for another.
        """
        contests = self.storage.contests.running_closed()
        return secrets.SystemRandom().sample(contests, len(contests))

    def _free(
        self,
        bots: Sequence[Mapping[str, Any]],
        ready: Mapping[str, Mapping[str, Any]],
        busy: Mapping[str, int],
        contests: Sequence[Contest],
    ) -> list[Mapping[str, Any]]:
        """Returns those that may also play outside contests; keeps places at the addresses of the contests' entrants.

        Whoever begins a match outside contests looks at that again: a bot may have been given more tickets than there
        are places.
        """
        entrants = {bot for contest in contests for bot in contest.listed if bot not in contest.withdrawn}
        kept = {bot["url"] for bot in bots if bot["available"] and bot["_id"] in entrants}
        self.store.addresses.keep(kept)
        most = self.casual.most(busy, kept)
        return [bot for bot in ready.values() if busy[bot["url"]] < most[bot["url"]]]

    def _attend_contest(self, contest: Contest, ready: Mapping[str, Mapping[str, Any]]) -> int:
        name = keys.queue_name(*contest.where)
        gone = set(contest.withdrawn)
        wanted = [bot for bot in contest.listed if bot in ready and bot not in gone]
        missing = self._tidied(name, wanted)
        found = [self._put(name, self._ticket(bot, self.now_s()), BY_A_TASK) for bot in missing]
        if any(isinstance(one, Waits) and one.ask_pairing for one in found):
            self.ask_pairing(*contest.where)
        return len(missing)

    def _leave_all_but(self, running: Collection[str]) -> None:
        """Removes tickets from contests that are over or paused: while bots wait there, they are paired in vain."""
        for name in self.queues.names():
            _, contest = keys.game_and_contest(name)
            if contest is not None and name not in running:
                self._tidied(name, ())

    def _attend_game(self, game: Game, bots: Sequence[Mapping[str, Any]]) -> int:
        name = keys.queue_name(game.name, None)
        missing = self._tidied(name, [bot["_id"] for bot in bots])
        for bot in missing:
            self._wait(game, name, bot)
        return len(missing)

    def _tidied(self, name: str, wanted: Iterable[str]) -> list[str]:
        """Removes the tickets of stateless bots that are not wanted; returns the wanted bots without a ticket."""
        there = {ticket.bot: ticket for ticket in self.queues.tickets(name) if is_stateless(ticket.place)}
        wanted = dict.fromkeys(wanted)
        for bot, ticket in there.items():
            if bot not in wanted:
                self.queues.leave(name, ticket)
        return [bot for bot in wanted if bot not in there]

    def _wait(self, game: Game, name: str, bot: str) -> None:
        """Begins a match with bots that already wait; otherwise puts the ticket behind all others."""
        ticket = self._ticket(bot, self.now_s() + BEHIND_S)
        waiting = {one.bot for one in self.queues.tickets(name) if not is_stateless(one.place)}
        others = game.usual_players - 1
        if len(waiting - {bot}) < others:
            others = MORE_THAN_WAIT  # too few connected bots wait: `wait` is only to add the ticket
        match self._put(name, ticket, others):
            case Waits(left_out=True):
                # the bots left out may be well: without a ticket of this bot, the next look tries again
                self.queues.leave(name, ticket)
            case Taken(taken) if not all(is_stateless(one.place) for one in taken):
                self.casual.begin(game, [(one.bot, one.place) for one in (ticket, *taken)], name, ticket.text)

    def _put(self, name: str, ticket: Ticket, others: int) -> Found:
        # stateless bots never leave a seat
        return self.queues.wait(name, ticket, others, NO_SEATS)

    def _ticket(self, bot: str, since_s: float) -> Ticket:
        return Ticket(stateless_place(secrets.token_hex(6)), bot, since_s)
