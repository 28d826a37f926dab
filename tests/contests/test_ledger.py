"""Results that are stored, taken back, missed and counted anew: in whole transactions, and of one contest alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from hall import GAME, Hall
from pymongo.client_session import ClientSession
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
    register,
)

from battlebot.config import Settings
from battlebot.errors import UnknownMatch
from battlebot.referee.events import Failed
from battlebot.storage import Storage
from battlebot.storage.meetings import Meeting
from battlebot.storage.mongo import transaction

CUP, BOWL = (GAME, "cup"), (GAME, "bowl")
OF_CONTESTS = ("contests", "standings", "pairs", "meetings", "voids", "games", "audit")
BOTS = ("a", "b", "c")
RATED = {"mu": 25.0, "sigma": 8.0, "ordinal": 1.0, "matches": 1, "elo": 1500.0, "wins": 0, "invalid": 0}


class Strays(CommandListener):
    """Notes what is sent to MongoDB in the middle of a transaction and is no part of it."""

    def __init__(self) -> None:
        self.inside = False
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        """Notes one."""
        if self.inside and event.command.get("autocommit") is not False:
            self.names.append(event.command_name)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Of no interest."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Of no interest."""


def season(hall: Hall) -> dict[str, str]:
    """Plays a contest in which all happens that moves results; returns what happened -> its match.

    Afterwards nothing is being played but `open`.
    """
    hall.begin("abc", meetings=5)
    played, taken = hall.play("ab") + hall.play("bc")
    hall.void(taken)
    hall.wait("ac")
    [live] = hall.pair()
    hall.void(live.id)
    hall.wait("ab")
    [failed] = hall.pair()
    hall.conductor.conduct(failed, Failed("a mistake"))
    hall.archive()
    contest = hall.contest()
    for n, counts in ((4, "loss"), (5, "void")):
        missed = Meeting(f"missed{n}", ["b", "c"], n)
        assert hall.storage.ledger.absent(replace(contest, absent_counts=counts), missed, "c")
    hall.wait("ac")
    [begun] = hall.pair()
    return {"played": played, "taken": taken, "live": live.id, "failed": failed.id, "open": begun.id}


def test_what_is_done_in_a_transaction_is_all_part_of_it(
    settings: Settings, storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write beside it would stand if it fails, and a read beside it may be older than what it changes."""
    strays = Strays()
    register(strays)
    with_transaction = ClientSession.with_transaction

    def watched(session: ClientSession, work: Callable[[ClientSession], Any], *how: Any) -> Any:
        def noted(session: ClientSession) -> Any:
            strays.inside = True
            try:
                return work(session)
            finally:
                strays.inside = False

        return with_transaction(session, noted, *how)

    monkeypatch.setattr(ClientSession, "with_transaction", watched)
    watching = Storage(settings)
    hall = Hall(settings, watching, client)
    season(hall)
    watching.database["standings"].update_one({"bot_id": "a"}, {"$inc": {"wins": 1}})
    assert watching.ledger.recount(*CUP, mend_by="ann")
    watching.archive.check()
    for write in (watching.ratings.move, watching.ratings.replace):
        cursor = watching.ratings.cursor(GAME)
        assert write(GAME, cursor["revision"], {"at": 1}, [{**RATED, "bot_id": write.__name__}])
    watching.ratings.together(GAME)
    hall.do("cancel")
    watching.close()
    assert strays.names == []


def told(storage: Storage, matches: dict[str, str]) -> list[Any]:
    """Returns what is read of the contest."""
    since = datetime.fromtimestamp(0, UTC)
    numbers = storage.games.numbers(*CUP, 10, None)
    return [
        storage.standings.of_contest(*CUP),
        storage.standings.pairs(*CUP),
        storage.standings.pairs(*CUP, ["a"]),
        storage.meetings.among(*CUP, ["a"]),
        transaction(storage.client, lambda session: storage.meetings.beside(session, *CUP, matches["played"])),
        storage.meetings.between(*CUP, BOTS),
        storage.meetings.latest(*CUP, BOTS),
        storage.meetings.last_played(*CUP, ["a/b", "a/c", "b/c"]),
        storage.meetings.unsettled(*CUP, 0),
        storage.meetings.unsettled(*CUP, 1),
        storage.meetings.of_contest(*CUP),
        storage.meetings.over_count(*CUP),
        storage.meetings.open_count(*CUP),
        storage.meetings.open_ids(*CUP),
        storage.meetings.uncounted(*CUP),
        storage.voids.of_contest(*CUP),
        storage.voids.of_contest(*CUP, ["a"]),
        storage.voids.spoilt(*CUP, since),
        [storage.voids.has(*CUP, match) for match in matches.values()],
        list(storage.games.of_contest(*CUP)),
        list(storage.games.of_contest(*CUP, void=True)),
        numbers,
        list(storage.games.numbered(*CUP, numbers)),
        list(storage.games.each_of_contest(*CUP)),
        list(storage.audit.of_contest(*CUP)),
        storage.ledger.recount(*CUP),
    ]


def neighbours(storage: Storage) -> list[dict[str, Any]]:
    """Returns all documents of other contests."""
    return [row for name in OF_CONTESTS for row in storage.database[name].find() if where(row) != CUP]


def where(row: dict[str, Any]) -> tuple[str, str]:
    """Returns of which game and contest a document is."""
    return row["game"], row["contest"] if "contest" in row else row["name"]


def test_contests_that_share_a_game_or_a_name_share_nothing_else(hall: Hall) -> None:
    """The same bots play in all of them: nothing is read of another, and nothing is changed there."""
    storage, matches = hall.storage, season(hall)
    before = told(storage, matches)
    assert all(before[:-1])
    assert before[-1] == [], "no standing is wrong"
    void = [what for what, match in matches.items() if storage.ledger.is_void(*CUP, match)]
    assert void == ["taken", "live", "failed"]
    for name in OF_CONTESTS:
        collection = storage.database[name]
        rows = list(collection.find())
        for number, (game, contest) in enumerate([("connectfour", "cup"), BOWL]):
            there = {"game": game, "name" if name == "contests" else "contest": contest}
            later = {"at": datetime.now(UTC)} if "at" in rows[0] else {}
            collection.insert_many([{**row, **there, **later, "_id": f"{number}{row['_id']}"} for row in rows])
        # whoever takes the first one takes another's
        collection.delete_many({"_id": {"$in": [row["_id"] for row in rows]}})
        collection.insert_many(rows)
    assert told(storage, matches) == before
    for match in matches.values():
        with pytest.raises(UnknownMatch):
            hall.organiser.void(*BOWL, match, "a cable", "ann")
    others = neighbours(storage)
    storage.contests.settle(hall.contest(), 1)
    assert hall.contest().settled == 1
    hall.void(matches["played"])
    assert storage.ledger.reserve(hall.contest(), [Meeting("again", ["a", "b"], 1)]) == {"again"}
    assert storage.ledger.absent(hall.contest(), Meeting("m", ["a", "b"], 4), "a")
    storage.database["standings"].update_one({"game": GAME, "contest": "cup"}, {"$inc": {"wins": 1}})
    found = storage.ledger.recount(*CUP)
    assert found
    assert storage.ledger.recount(*CUP, mend_by="ann") == found
    assert storage.ledger.recount(*CUP, mend_by="ann") == []
    assert hall.audit().count("recompute") == 1
    hall.conductor.conduct(hall.store.load(matches["open"]), Failed("a mistake"))
    hall.archive()
    hall.do("cancel")
    assert neighbours(storage) == others


def test_what_the_server_took_back_lately_is_spoilt_and_nothing_else(hall: Hall) -> None:
    """Not what an organiser took back."""
    season(hall)
    assert [row["pair"] for row in hall.storage.voids.spoilt(*CUP, datetime.fromtimestamp(0, UTC))] == ["a/b"]
    assert hall.storage.voids.spoilt(*CUP, datetime.now(UTC)) == []


def test_of_rounds_that_are_settled_only_what_is_open_is_read(hall: Hall) -> None:
    """Of later ones all, whether it is over or not."""
    season(hall)
    rows = hall.storage.meetings.of_contest(*CUP)
    for settled in range(1, 6):
        right = [(row["round"], row["bots"]) for row in rows if row["state"] == "open" or row["round"] > settled]
        found = hall.storage.meetings.unsettled(*CUP, settled)
        assert [(row["round"], row["bots"]) for row in found] == right


def test_who_was_missed_but_has_met_meanwhile_loses_nothing(hall: Hall) -> None:
    """Its match began, and ended, after it was looked for: a meeting of a number is held once."""
    hall.begin("ab")
    hall.play("ab")
    before = told_of_results(hall.storage)
    assert not hall.storage.ledger.absent(hall.contest(), Meeting("missed", ["a", "b"], 1), "a")
    assert told_of_results(hall.storage) == before


def test_what_has_been_played_is_not_given_up(hall: Hall) -> None:
    """It was looked for before it was stored."""
    hall.begin("abc")
    [match] = hall.play("ab")
    before = told_of_results(hall.storage)
    hall.storage.meetings.release([match])
    hall.storage.meetings.lost([match])
    assert told_of_results(hall.storage) == before
    assert not hall.storage.ledger.is_void(*CUP, match)


def test_what_is_archived_while_it_is_given_up_is_played_and_not_taken_back(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive had read it when Redis lost it: it would count, and be known as spoilt by the server."""
    hall.begin("ab")
    hall.wait("ab")
    [match] = hall.pair()
    hall.end(match)
    collection, archived = hall.storage.voids._voids, list[str]()
    real = collection.bulk_write

    def late(*arguments: Any, **named: Any) -> object:
        if not archived:
            archived.append(match.id)
            hall.archive()
        return real(*arguments, **named)

    monkeypatch.setattr(collection, "bulk_write", late)
    hall.storage.meetings.lost([match.id])
    assert (archived, hall.played(), [state for state, _ in hall.meetings()]) == (
        [match.id],
        {"a": 1, "b": 1},
        ["played"],
    )
    assert not hall.storage.ledger.is_void(*CUP, match.id)


def told_of_results(storage: Storage) -> list[Any]:
    """Returns the contest's standings and meetings."""
    return [storage.standings.of_contest(*CUP), storage.standings.pairs(*CUP), storage.meetings.of_contest(*CUP)]
