"""A contest in motion over real stores, one step at a time: waiting, pairing, playing, the archive, an organiser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import redis
from conductors import Conductor

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.heartbeats import AWAY_S, Heartbeats
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.sweep import Sweeper
from battlebot.config import Settings
from battlebot.contests.contest import Contest
from battlebot.contests.service.absences import Absences
from battlebot.contests.service.chances import Chances
from battlebot.contests.service.lookout import Lookout
from battlebot.contests.service.organiser import Organiser
from battlebot.contests.service.pairer import Pairer
from battlebot.matchmaking.missing import Missing
from battlebot.redisio.bus import Bus
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import discover
from battlebot.storage import Storage

GAME = "numberwang"
REGISTRY = discover()


def time_passed(heartbeats: Heartbeats, now_s: float, seconds: float) -> float:
    """Sends a node's heartbeats of so many seconds, as seldom as makes no outage; returns the time after that."""
    end_s = now_s + seconds
    while now_s < end_s:
        now_s = min(now_s + AWAY_S, end_s)
        heartbeats.send("node", now_s, first=False)
    return now_s


@dataclass
class Hall:
    """The contest `cup` of numberwang; `now_s` is the clock for finding absent bots."""

    settings: Settings
    storage: Storage
    client: redis.Redis
    now_s: float = 1_800_000_000.0
    asked: list[str] = field(default_factory=list)  # games whose ratings were requested
    _tickets: int = 0

    def __post_init__(self) -> None:
        self.store, self.queues, self.missing = MatchStore(self.client), Queues(self.client), Missing(self.client)
        self.conductor = Conductor(REGISTRY, self.store)
        self.organiser = Organiser(
            self.storage, self.conductor, Bus(self.client), lambda game, contest: None, self.asked.append
        )
        self.pairer = Pairer(
            registry=REGISTRY,
            settings=self.settings,
            storage=self.storage,
            store=self.store,
            queues=self.queues,
            missing=self.missing,
            ask_bots=lambda match_id: None,
            paused=lambda bots: (),
        )
        self.heartbeats = self.conductor.heartbeats
        chances = Chances(
            heartbeats=self.heartbeats,
            cut_off=CutOff(self.client, self.heartbeats),
            addresses=self.store.addresses,
            bots=self.storage.bots,
            grace_s=self.settings.node_grace_s,
            bot_matches=self.settings.bot_matches,
        )
        self.absences = Absences(self.pairer, self.organiser, chances, now_s=lambda: self.now_s)
        self.heartbeats.send("node", self.now_s, first=True)

    def begin(self, bots: str, stateless: str = "", **fields: Any) -> None:
        """Registers the bots and starts a contest with them: a round-robin of one meeting unless said otherwise."""
        for bot in bots:
            url = "http://127.0.0.1:9/" if bot in stateless else None
            self.storage.bots.register(GAME, bot, "owner", b"sealed", bot, url=url)
        given = {"name": "cup", "format": "round-robin", "meetings": 1, "entrants": list(bots), **fields}
        self.organiser.create(GAME, given, "ann")
        self.do("start")

    def do(self, action: str) -> Contest:
        """Takes an organiser's action."""
        return self.organiser.transition(action, GAME, "cup", "ann")

    def void(self, match: str, reason: str = "a cable") -> None:
        """Takes a match back, as an organiser."""
        self.organiser.void(GAME, "cup", match, reason, "ann")

    def lookout(self) -> Lookout:
        """Returns what looks at contests."""
        return Lookout(self.storage, self.store, self.queues, self.missing, self.settings.bot_matches, REGISTRY)

    def contest(self) -> Contest:
        """Returns the contest."""
        return self.organiser.contest(GAME, "cup")

    def wait(self, bots: str, node: str = "n") -> None:
        """Makes the bots wait at a node."""
        for bot in bots:
            self._tickets += 1
            ticket = Ticket(f"{node}/{self._tickets}", bot, 100.0 + self._tickets)
            self.queues.wait(f"{GAME}/cup", ticket, BY_A_TASK)

    def pair(self) -> list[Match]:
        """Pairs the waiting bots; returns the live matches."""
        self.pairer.pair(GAME, "cup")
        return self.live()

    def live(self) -> list[Match]:
        """Returns the live matches."""
        return list(self.store.load_many(self.store.live_ids()).values())

    def end(self, match: Match) -> str:
        """Lets the bot on turn win; returns its name."""
        victor = str(match.state["nextPlayer"])
        self.conductor.conduct(match, Turned(victor, {"n": 10}, 0.1))
        return victor

    def archive(self) -> None:
        """Stores the finished matches."""
        ended = Finished(self.store.client).read(Finished(self.store.client).ids(1000))
        self.storage.archive.store([game_document(row) for row in ended])
        Finished(self.store.client).retire([row.match.id for row in ended])

    def play(self, bots: str) -> list[str]:
        """Lets the bots wait, meet and play; archives the matches and returns their ids."""
        self.wait(bots)
        matches = self.pair()
        for match in matches:
            self.end(match)
        self.archive()
        return [match.id for match in matches]

    def pass_time(self, seconds: float, alive: bool = True) -> None:
        """Lets time pass in which a node lives, and sends heartbeats; or none does."""
        self.now_s = time_passed(self.heartbeats, self.now_s, seconds) if alive else self.now_s + seconds

    def sweep(self) -> None:
        """Looks for nodes that have died, and takes their bots' tickets and seats away."""
        conductor = Conductor(REGISTRY, self.store, now_s=lambda: self.now_s)
        Sweeper(conductor, self.queues, 5.0, 1.0).sweep()

    def look(self) -> int:
        """Looks for absent bots; returns how many meetings that closed."""
        return self.absences.look_at(self.contest())

    def meetings(self) -> list[tuple[str, str]]:
        """Returns the meetings as (state, bots with the first mover first)."""
        rows = self.storage.meetings.of_contest(GAME, "cup")
        return [(row["state"], "".join(row["bots"])) for row in rows]

    def audit(self) -> list[str]:
        """Returns the actions in the audit, oldest first."""
        return [row["action"] for row in self.storage.audit.of_contest(GAME, "cup")][::-1]

    def played(self) -> dict[str, int]:
        """Returns bot -> its number of matches in the standings."""
        return {row["bot_id"]: row["played"] for row in self.storage.standings.of_contest(GAME, "cup") if row["played"]}
