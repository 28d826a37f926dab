"""Contests at the doors and in the worker: who may enter, and the pairing of those who wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from battlebot.arena import keys
from battlebot.arena.bus import Bus
from battlebot.arena.making import begin, new_match, new_match_id
from battlebot.arena.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import Pairing, Record, Waiter
from battlebot.errors import ContestClosed, Unavailable
from battlebot.matchmaking.queue import Queues, Ticket
from battlebot.rules.contract import Game
from battlebot.storage import Storage

log = structlog.get_logger()

KNOWN_FOR_S = 2.0  # how long a contest's state may be old at a login


class Entrance:
    """What a login into a contest asks. A MongoDB that is away lets those in who were let in before."""

    def __init__(self, storage: Storage, bus: Bus, settings: Settings) -> None:
        self._storage = storage
        self._bus = bus
        self._settings = settings
        self._known: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
        self._entered: set[tuple[str, str, str]] = set()

    def enter(self, game: str, contest: str, bot: str) -> None:
        """Lets the bot into the contest; opens it if nobody has, and the operator allows that.

        Raises ContestClosed for a contest that nobody opened, where logins may not; Unavailable.
        """
        try:
            self._contest(game, contest)
            if (game, contest, bot) not in self._entered:
                self._storage.standings.enter(game, contest, bot)
                self._entered.add((game, contest, bot))
                self._bus.publish(keys.contest_events(game, contest), b"entered")
        except Unavailable:
            if (game, contest) not in self._known:
                raise
            log.warning("contest.entered_unseen", game=game, contest=contest, bot=bot)

    def _contest(self, game: str, contest: str) -> dict[str, Any]:
        seen_s, document = self._known.get((game, contest), (0.0, {}))
        if time.monotonic() - seen_s < KNOWN_FOR_S:
            return document
        found = self._storage.contests.find(game, contest)
        if found is None:
            if not self._settings.contests_by_login:
                raise ContestClosed(f"There is no contest {contest!r} of {game}.", contest=contest)
            found = self._storage.contests.open(game, contest, self._settings.meetings_cap)
            log.info("contest.opened", game=game, contest=contest)
        self._known[game, contest] = (time.monotonic(), found)
        return found


@dataclass
class Pairer:
    """Pairs the bots that wait in a contest. One at a time per contest does it, but nothing breaks if two do."""

    registry: Mapping[str, Game]
    settings: Settings
    storage: Storage
    store: MatchStore
    queues: Queues
    now_s: Callable[[], float] = time.time

    def pair(self, game_name: str, contest_name: str) -> int:
        """Lets those meet who may; answers how many matches began. Raises Unavailable."""
        queue = keys.queue_name(game_name, contest_name)
        tickets = {ticket.text: ticket for ticket in self.queues.tickets(queue)}
        if len(tickets) < 2:
            return 0
        contest = self.storage.contests.find(game_name, contest_name)
        if contest is None or contest["state"] != "running":
            return 0
        meetings = min(int(contest["meetings"]), 5)
        waiting = [Waiter(ticket.bot, text) for text, ticket in tickets.items()]
        record = self._record(game_name, contest_name, waiting)
        pairings = format_named(contest["format"]).pair(waiting, record, meetings)
        return self._begin(contest, queue, tickets, [p for p in pairings if p.n <= meetings])

    def _record(self, game: str, contest: str, waiting: list[Waiter]) -> Record:
        bots = sorted({waiter.bot for waiter in waiting})
        rows = self.storage.meetings.among(game, contest, bots)
        return Record.of((row["bots"][0], row["bots"][1], row["n"]) for row in rows)

    def _begin(self, contest: dict[str, Any], queue: str, tickets: dict[str, Ticket], pairings: list[Pairing]) -> int:
        planned = {new_match_id(self.now_s()): pairing for pairing in pairings}
        wanted = [
            {"match": match_id, "bots": [pairing.first.bot, pairing.second.bot], "n": pairing.n}
            for match_id, pairing in planned.items()
        ]
        reserved = self.storage.meetings.reserve(contest["game"], contest["name"], wanted)
        begun, unbegun = 0, []
        for match_id in reserved:
            pairing = planned[match_id]
            if self._begin_one(contest, queue, tickets, match_id, pairing):
                begun += 1
            else:
                unbegun.append(match_id)
        if unbegun:
            self.storage.meetings.release(unbegun)
        return begun

    def _begin_one(
        self, contest: dict[str, Any], queue: str, tickets: dict[str, Ticket], match_id: str, pairing: Pairing
    ) -> bool:
        game = self.registry[contest["game"]]
        seats = [(waiter.bot, tickets[waiter.ticket].place) for waiter in (pairing.first, pairing.second)]
        match = new_match(
            game, seats, self.settings, self.now_s(), contest["name"], contest["options"], match_id=match_id
        )
        if not begin(self.store, game, match, queue):
            return False
        log.info(
            "match.begun",
            match=match_id,
            game=game.name,
            contest=contest["name"],
            players=[bot for bot, _ in seats],
            n=pairing.n,
        )
        return True
