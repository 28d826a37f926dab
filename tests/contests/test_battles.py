"""A champion's battles over real stores: each fought once, whatever races, is void, leaves, or does not come."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import redis
from conductors import Conductor
from hall import time_passed
from records import GAMES

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.checks import check_contest
from battlebot.contests.contest import Contest
from battlebot.contests.service.absences import Absences
from battlebot.contests.service.chances import Chances
from battlebot.contests.service.lookout import Lookout
from battlebot.contests.service.organiser import Organiser
from battlebot.contests.service.pairer import Pairer
from battlebot.errors import Refused
from battlebot.matchmaking.missing import Missing
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.referee.events import Failed, GaveUp, Turned
from battlebot.storage import Storage
from battlebot.storage.meetings import Meeting

GAME = "battlecube"
BOTS = ["ann", "bob", "cid", "dan"]
QUEUE = f"{GAME}/cup"


class House:
    """The parts of a worker, and a contest `cup` of ten battles of four bots."""

    def __init__(self, settings: Settings, storage: Storage, client: redis.Redis, **fields: Any) -> None:
        registry, self.storage, self.store = GAMES, storage, MatchStore(client)
        for bot in BOTS:
            storage.bots.register(GAME, bot, "owner", b"sealed", bot)
        self.queues, self.missing = Queues(client), Missing(client)
        self.conductor = Conductor(registry, self.store)
        self.pairer = Pairer(
            registry, settings, storage, self.store, self.queues, self.missing, lambda match_id: None, lambda bots: ()
        )
        self.organiser = Organiser(storage, self.conductor, Bus(client), lambda *_: None, lambda *_: None)
        self.heartbeats = Heartbeats(client)
        addresses, cut_off = self.store.addresses, CutOff(client, self.heartbeats)
        chances = Chances(self.heartbeats, cut_off, addresses, storage.bots, grace_s=15.0, bot_matches=10)
        self.absences = Absences(self.pairer, self.organiser, chances, most_s=100.0)
        self.lookout = Lookout(storage, self.store, self.queues, self.missing, bot_matches=10, registry=registry)
        self.waited = 0
        given = {"name": "cup", "format": "champion", "config": {"battles": 10}, "meetings": 5, "entrants": BOTS}
        self.organiser.create(GAME, {**given, "absentAfterS": 60, **fields}, "ann")
        self.organiser.transition("start", GAME, "cup", "ann")

    def contest(self) -> Contest:
        """As it is now."""
        return self.organiser.contest(GAME, "cup")

    def wait(self, bots: list[str] = BOTS) -> None:
        """These wait, each on a new connection."""
        self.waited += 1
        for index, bot in enumerate(bots):
            self.queues.wait(QUEUE, Ticket(f"n/{bot}.{self.waited}", bot, 100.0 + index), BY_A_TASK)

    def end_all(self, last: str | None = None, fails: bool = False) -> None:
        """Ends every live battle: one is out a tick, by name, but `last`; or the server fails. Archives."""
        for match_id in self.store.live_ids():
            match = self.store.load(match_id)
            if fails:
                self.conductor.conduct(match, Failed("the disk is full"))
                continue
            for out in sorted(seat.bot for seat in match.seats if seat.bot != last):
                self.tick(match_id, out)
        ended = Finished(self.store.client).read(Finished(self.store.client).ids(1000))
        self.storage.archive.store([game_document(row) for row in ended])
        Finished(self.store.client).retire([row.match.id for row in ended])

    def tick(self, match_id: str, out: str) -> None:
        """All that are asked do nothing, but for one that gives no answer."""
        for bot in self.store.load(match_id).state["waitingFor"]:
            match = self.store.load(match_id)
            question = next(seat.question for seat in match.seats if seat.bot == bot)
            noop = Turned(bot, {"tasks": [{"task": "NOOP"}]}, 0.1)
            self.conductor.conduct(match, GaveUp(bot, question, "timeout", "It hangs.") if bot == out else noop)

    def numbers(self) -> list[int]:
        """The numbers of all battles that count or are being fought."""
        return sorted(row["n"] for row in self.storage.meetings.of_contest(GAME, "cup"))

    def findings(self) -> list[Any]:
        """What verify would find, and where the standings are not the sum of the battles."""
        games = self.storage.games.each_of_contest(GAME, "cup", void=True)
        found = check_contest(self.contest(), games, self.storage.meetings.of_contest(GAME, "cup"))
        return [*found, *self.storage.ledger.recount(GAME, "cup")]


@pytest.fixture
def house(settings: Settings, storage: Storage, client: redis.Redis) -> House:
    """The worker's parts."""
    return House(settings, storage, client)


def test_ten_battles_are_fought_and_ranked_by_wins_then_ticks(house: House) -> None:
    """Ann wins six, Bob four; who is second by wins is so by ticks among the rest."""
    for battle in range(10):
        house.wait()
        assert house.pairer.pair(GAME, "cup") == 1
        house.end_all("ann" if battle < 6 else "bob")
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 0
    assert house.numbers() == list(range(1, 11))
    rows, progress = house.lookout.standing(house.contest())
    assert [(row["rank"], row["bot_id"], row["wins"], row["score"]) for row in rows] == [
        (1, "ann", 6, 6),
        (2, "bob", 4, 4),
        (3, "dan", 0, 0),
        (4, "cid", 0, 0),
    ]
    assert [row["scored"] for row in rows] == [6 * 3, 4 * 3, 10 * 2, 10 * 1]
    assert [row["losses"] for row in rows] == [4, 6, 10, 10]
    against = {(row["bot_id"], row["opponent"]): row for row in house.storage.standings.pairs(GAME, "cup")}
    assert {name: against["dan", "cid"][name] for name in ("wins", "draws", "losses")} == {
        "wins": 10,
        "draws": 0,
        "losses": 0,
    }
    assert progress == {"played": 10, "planned": 10, "live": 0, "winner": "ann"}
    house.absences.look_at(house.contest())
    assert house.contest().state == "finished"
    assert house.findings() == []
    firsts = {game["players"][0] for game in house.storage.games.of_contest(GAME, "cup")}
    assert firsts == set(BOTS)


def test_of_racing_pairers_each_battle_is_begun_by_one(house: House, settings: Settings) -> None:
    """No lock: the index lets one reserve a battle, though another has seen other bots withdraw."""
    pairers = [
        replace(house.pairer, storage=Storage(settings), store=MatchStore(connect(settings.redis_url)))
        for _ in range(4)
    ]
    for attempt in range(6):
        house.wait()
        together = threading.Barrier(4)

        def race(one: Pairer, together: threading.Barrier = together) -> int:
            together.wait()
            return one.pair(GAME, "cup")

        with ThreadPoolExecutor(4) as pool:
            begun = [pool.submit(race, one) for one in pairers]
            if attempt == 3:
                house.organiser.withdraw(GAME, "cup", "dan", "ann")
            # who withdraws takes what it plays along
            number = sum(one.result() for one in begun)
            assert number <= 1
            assert number == len(house.store.live_ids()) or attempt == 3
        house.end_all("ann")
    for one in pairers:
        one.storage.close()
    assert house.numbers() == list(range(1, len(house.numbers()) + 1))
    assert len(house.numbers()) >= 4
    assert house.findings() == []


def test_the_nth_battle_is_one_whoever_is_in_it(house: House) -> None:
    """Reserved, begun or missed: the same number is not given to fewer bots, nor to others."""
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 1
    fewer = Meeting("m", BOTS[:3], 1, round=1, together=True)
    assert house.storage.ledger.reserve(house.contest(), [fewer]) == set()
    assert not house.storage.ledger.absent(house.contest(), fewer, None)
    assert house.numbers() == [1]


def test_a_void_battle_is_fought_again_under_its_number(house: House) -> None:
    """The server's fault, and an organiser's: nobody's standing moves for either."""
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 1
    house.end_all(fails=True)
    assert (house.numbers(), house.storage.standings.of_contest(GAME, "cup")) == ([], [])
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 1
    house.end_all("cid")
    (game,) = house.storage.games.of_contest(GAME, "cup")
    house.organiser.void(GAME, "cup", game["_id"], "a cable", "ann")
    assert house.numbers() == []
    assert {row["wins"] for row in house.lookout.ranking(house.contest())} == {0}
    assert {row["scored"] for row in house.lookout.ranking(house.contest())} == {0}
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 1
    assert house.numbers() == [1]
    assert house.findings() == []


def test_who_does_not_come_is_left_out_after_the_grace_and_may_come_later(house: House) -> None:
    """It is waited for once, not before each battle; alone nobody wins but by the others' absence."""
    now_s = [1000.0]
    house.pairer.now_s = house.absences.now_s = lambda: now_s[0]
    house.heartbeats.send("node", now_s[0], first=True)
    house.wait(BOTS[:3])
    house.absences.look_at(house.contest())
    assert house.pairer.pair(GAME, "cup") == 0
    assert house.lookout.why(house.contest(), "ann")["sentence"] == "ann waits for who is to be in its battle: dan."
    now_s[0] = time_passed(house.heartbeats, now_s[0], 61)
    for _ in range(2):
        house.absences.look_at(house.contest())
        assert house.pairer.pair(GAME, "cup") == 1
        house.absences.look_at(house.contest())
        house.end_all("ann")
        house.wait(BOTS[:3])
    house.wait(["dan"])
    assert house.pairer.pair(GAME, "cup") == 1
    house.end_all("dan")
    assert sorted(row["played"] for row in house.lookout.ranking(house.contest())) == [1, 3, 3, 3]
    for bot in BOTS[1:]:
        for ticket in [one for one in house.queues.tickets(QUEUE) if one.bot == bot]:
            house.queues.leave(QUEUE, ticket)
    house.wait(["ann"])
    house.absences.look_at(house.contest())
    now_s[0] = time_passed(house.heartbeats, now_s[0], 61)
    while house.contest().state == "running":
        house.absences.look_at(house.contest())
    rows = {row["bot_id"]: row for row in house.lookout.ranking(house.contest())}
    assert (rows["ann"]["wins"], rows["bob"]["absent"]) == (2 + 7, 7)
    assert house.findings() == []


def test_what_the_game_would_not_begin_is_no_contest(settings: Settings, storage: Storage, client: redis.Redis) -> None:
    """Too small a cube for all; start positions that name others; nor may one leave whose position is laid down."""
    with pytest.raises(Refused) as refused:
        House(settings, storage, client, options={"edgeLength": 1})
    assert refused.value.details["field"] == "entrants"
    storage.database["bots"].delete_many({})
    cells = [{"name": bot, "x": index, "y": 0, "z": 0} for index, bot in enumerate(BOTS)]
    house = House(settings, storage, client, options={"playerStartPositions": cells})
    with pytest.raises(Refused):
        house.organiser.withdraw(GAME, "cup", "dan", "ann")
    changes = {"format": "round-robin", "name": "robin", "entrants": BOTS, "meetings": 1}
    with pytest.raises(Refused) as refused:
        house.organiser.create(GAME, {**changes, "options": {"edgeLength": 1}}, "ann")
    assert refused.value.details["field"] == "options"


def test_a_game_that_fails_to_say_who_may_start_holds_up_no_battle_of_all(house: House) -> None:
    """It is asked whether the others may begin without some: they wait for these."""

    def raising(players: list[str], options: dict[str, Any]) -> str | None:
        raise KeyError(players[0])

    game = house.pairer.registry[GAME]
    house.pairer.registry = {GAME: replace(game, rules=replace(game.rules, objection=raising))}
    house.wait(BOTS[:3])
    assert house.pairer.pair(GAME, "cup") == 0
    house.wait()
    assert house.pairer.pair(GAME, "cup") == 1
