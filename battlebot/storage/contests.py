"""The collection `contests`: named competitions. Who meets whom is in `meetings`, the ranking in `standings`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pymongo import MongoClient, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.errors import NameTaken
from battlebot.storage.audit import Audit, Note
from battlebot.storage.mongo import mongo_errors, session_of
from battlebot.storage.room import Room
from battlebot.storage.voids import Voids, Why

OPEN_STATES = ("scheduled", "running", "paused")
OVER = ("finished", "cancelled")
STATES = (*OPEN_STATES, *OVER)

SEED_POINTS = {"win": 3, "draw": 1, "loss": 0}

# the fields' values unless somebody sets others; the seeds' contests, opened by a login, have just these
DEFAULTS: Mapping[str, Any] = {
    "format": "open",
    "config": {},
    "entrants": "open",
    "withdrawn": [],
    "options": {},
    "turnTimeoutMs": None,
    "points": SEED_POINTS,
    "absentAfterS": 60,
    "absentCounts": "loss",
    "startsAt": None,
    "endsAt": None,
    "startedAt": None,
    "endedAt": None,
    "runsSince": None,
    "revision": 0,
    "settled": 0,
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Takes back the matches that are being played: all of them, or one bot's."""

    why: Why
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a contest: new values of fields, notes for the audit, and which matches it takes back."""

    fields: Mapping[str, Any]
    notes: Sequence[Note]
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A contest after a decision, the notes recorded, and the matches to be stopped (id -> reason)."""

    contest: dict[str, Any]
    notes: Sequence[Note] = ()
    stopped: Mapping[str, str] = field(default_factory=dict)


Decide = Callable[[dict[str, Any]], Change | None]


class Contests:
    """Documents `{game, name, title, state, meetings, openedBy, createdAt}` and the fields of `DEFAULTS`.

    `revision` grows with each change and each match that is taken back. `runsSince`: when the contest was last started,
    resumed or opened again. `settled`: all rounds up to this one were over when somebody last looked.
    """

    def __init__(
        self,
        client: MongoClient[dict[str, Any]],
        database: Database[dict[str, Any]],
        room: Room,
        audit: Audit,
        voids: Voids,
    ) -> None:
        self._client = client
        self._voids = voids
        self._room = room
        self._contests = database["contests"]
        self._audit = audit

    def find(self, game: str, name: str) -> dict[str, Any] | None:
        """The contest, or None. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find_one({"game": game, "name": name})
        return None if found is None else {**DEFAULTS, **found}

    def open(self, game: str, name: str, meetings: int) -> dict[str, Any]:
        """Returns the contest of that name; makes a running one of format `open` if there is none.

        Raises DiskFull, Unavailable.
        """
        self._room.check()
        now = datetime.now(UTC)
        made = {
            **DEFAULTS,
            "title": name,
            "state": "running",
            "meetings": meetings,
            "openedBy": "login",
            "createdAt": now,
            "startsAt": now,
            "startedAt": now,
            "runsSince": now,
        }
        with mongo_errors():
            found = self._contests.find_one_and_update(
                {"game": game, "name": name},
                {"$setOnInsert": made},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
        assert found is not None
        return {**DEFAULTS, **found}

    def create(self, contest: Mapping[str, Any], notes: Sequence[Note] = ()) -> dict[str, Any]:
        """Stores a new contest with all its fields. Raises NameTaken, DiskFull, Unavailable."""
        self._room.check()
        document = {**DEFAULTS, **contest, "createdAt": datetime.now(UTC)}

        def in_transaction(session: ClientSession) -> None:
            self._contests.insert_one(document, session=session)
            self._audit.add(session, document, notes)

        with session_of(self._client) as session:
            try:
                session.with_transaction(in_transaction)
            except DuplicateKeyError:
                raise NameTaken(f"There is a contest {contest['name']!r} already.", field="name") from None
        return document

    def find_in(self, session: ClientSession, game: str, name: str) -> dict[str, Any] | None:
        """Like `find`, as part of a transaction."""
        found = self._contests.find_one({"game": game, "name": name}, session=session)
        return None if found is None else {**DEFAULTS, **found}

    def change(self, game: str, name: str, decide: Decide) -> Changed | None:
        """Makes the change that `decide` returns for the current contest; returns None if there is no such contest.

        It is one transaction, so that a decision is made on the state that it changes: after a conflict `decide` is
        called again, perhaps several times. Raises what `decide` raises, and Unavailable: nothing was changed then.
        """

        def in_transaction(session: ClientSession) -> Changed | None:
            contest = self.find_in(session, game, name)
            if contest is None:
                return None
            change = decide(contest)
            return Changed(contest) if change is None else self.change_in(session, contest, change)

        with session_of(self._client) as session:
            return session.with_transaction(in_transaction)

    def change_in(self, session: ClientSession, contest: Mapping[str, Any], change: Change) -> Changed:
        """Makes a change of the contest, which was read in this transaction, and notes it in the audit."""
        update = {"$set": dict(change.fields), "$inc": {"revision": 1}}
        if not change.fields:
            del update["$set"]
        after = self._contests.find_one_and_update(
            {"_id": contest["_id"]}, update, return_document=ReturnDocument.AFTER, session=session
        )
        assert after is not None
        after = {**DEFAULTS, **after}
        self._audit.add(session, after, change.notes)
        stopped = self._take_back(session, after, change.stop) if change.stop is not None else {}
        return Changed(after, change.notes, stopped)

    def hold(self, session: ClientSession, contest: Mapping[str, Any]) -> bool:
        """Whether the contest is running and unchanged since it was read; so it stays until the transaction commits."""
        query = {"_id": contest["_id"], "state": "running", "revision": _revision(contest)}
        # only a document that is written to is locked against other transactions
        return bool(self._contests.update_one(query, {"$inc": {"held": 1}}, session=session).matched_count)

    def _take_back(self, session: ClientSession, contest: Mapping[str, Any], stop: Stop) -> dict[str, str]:
        query = {"game": contest["game"], "contest": contest["name"], "state": "open"}
        if stop.bot is not None:
            query["bots"] = stop.bot
        return dict.fromkeys(self._voids.take_back(query, stop.why, session, playing=True), stop.why.reason)

    def settle(self, contest: Mapping[str, Any], rounds: int) -> None:
        """Notes that all rounds up to `rounds` were over when `contest` was read, unless it has changed since then.

        Raises Unavailable.
        """
        with mongo_errors():
            self._contests.update_one(
                {"_id": contest["_id"], "revision": _revision(contest)}, {"$max": {"settled": rounds}}
            )

    def of_game(
        self, game: str, limit: int = 100, state: str | None = None, before: str | None = None
    ) -> list[dict[str, Any]]:
        """A game's contests, newest first; if given, only those in `state`, and older than the contest named `before`.

        Raises Unavailable.
        """
        query: dict[str, Any] = {"game": game}
        if state is not None:
            query["state"] = state
        with mongo_errors():
            if before is not None:
                last = self._contests.find_one({"game": game, "name": before}, {"createdAt": 1})
                if last is None:
                    return []
                # several may have been created within one millisecond
                at = last["createdAt"]
                query["$or"] = [{"createdAt": {"$lt": at}}, {"createdAt": at, "_id": {"$lt": last["_id"]}}]
            found = self._contests.find(query).sort([("createdAt", -1), ("_id", -1)]).limit(limit)
            return [{**DEFAULTS, **row} for row in found]

    def running(self, limit: int = 100) -> list[dict[str, Any]]:
        """The newest contests in the state `running`. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find({"state": "running"}).sort("createdAt", -1).limit(limit)
            return [{**DEFAULTS, **row} for row in found]

    def running_closed(self) -> list[dict[str, Any]]:
        """The running contests with a list of entrants. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find({"state": "running", "entrants": {"$type": "array"}})
            return [{**DEFAULTS, **row} for row in found]

    def due(self, now: datetime) -> list[dict[str, Any]]:
        """The contests whose time to start or to end has come. Raises Unavailable."""
        query = {
            "$or": [
                {"state": "scheduled", "startsAt": {"$lte": now}},
                {"state": {"$in": OPEN_STATES}, "endsAt": {"$lte": now}},
            ]
        }
        with mongo_errors():
            return [{**DEFAULTS, **row} for row in self._contests.find(query)]


def _revision(contest: Mapping[str, Any]) -> Any:
    # contests created before there were revisions have none
    return contest["revision"] or {"$in": [0, None]}
