"""The collection `contests`: named competitions. Who meets whom is in `meetings`, the ranking in `standings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import MongoClient, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.errors import NameTaken
from battlebot.storage.audit import Audit, Note
from battlebot.storage.connection import mongo_errors, session_of
from battlebot.storage.room import Room

STATES = ("scheduled", "running", "paused", "finished", "cancelled")

# what a contest has where nobody said otherwise; the seeds' contests, opened by a login, are just this
DEFAULTS: Mapping[str, Any] = {
    "format": "open",
    "config": {},
    "entrants": "open",
    "withdrawn": [],
    "options": {},
    "turnTimeoutMs": None,
    "points": {"win": 3, "draw": 1, "loss": 0},
    "absentAfterS": 60,
    "absentCounts": "loss",
    "startsAt": None,
    "endsAt": None,
    "startedAt": None,
    "endedAt": None,
    "revision": 0,
    "settled": 0,
}


class Contests:
    """Documents `{game, name, title, state, meetings, openedBy, createdAt}` and the fields of `DEFAULTS`.

    `revision` grows with each change, and with each match that is taken back; `settled` is the last of the rounds that
    are over, as far as anybody has looked. What is written down in the audit is written in the change's transaction.
    """

    def __init__(
        self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]], room: Room, audit: Audit
    ) -> None:
        self._client = client
        self._room = room
        self._contests = database["contests"]
        self._audit = audit

    def find(self, game: str, name: str) -> dict[str, Any] | None:
        """The contest, or None. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find_one({"game": game, "name": name})
        return None if found is None else {**DEFAULTS, **found}

    def open(self, game: str, name: str, meetings: int) -> dict[str, Any]:
        """The contest of that name; where there is none, a running one of format `open` is made.

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

    def create(self, contest: Mapping[str, Any], note: Note | None = None) -> dict[str, Any]:
        """Stores a new contest with all its fields. Raises NameTaken, DiskFull, Unavailable."""
        self._room.check()
        document = {**DEFAULTS, **contest, "createdAt": datetime.now(UTC)}

        def in_transaction(session: ClientSession) -> None:
            self._contests.insert_one(document, session=session)
            if note is not None:
                self._audit.add_in(session, document["game"], document["name"], note)

        with session_of(self._client) as session:
            try:
                session.with_transaction(in_transaction)
            except DuplicateKeyError:
                raise NameTaken(f"There is a contest {contest['name']!r} already.", field="name") from None
        return document

    def change(
        self,
        contest: Mapping[str, Any],
        states: Sequence[str],
        update: Mapping[str, Mapping[str, Any]],
        note: Note | None = None,
        unchanged: bool = False,
    ) -> dict[str, Any] | None:
        """Applies `update` (MongoDB's operators) if the contest is in one of `states`; else None. Raises Unavailable.

        The condition and the change are one operation: of several processes exactly one makes a transition. With
        `unchanged` nobody may have changed anything since `contest` was read, nor taken a match back.
        """
        query = {"_id": contest["_id"], "state": {"$in": list(states)}}
        if unchanged:
            query["revision"] = _revision(contest)
        operators = {**update, "$inc": {"revision": 1, **update.get("$inc", {})}}

        def in_transaction(session: ClientSession) -> dict[str, Any] | None:
            found = self._contests.find_one_and_update(
                query, operators, return_document=ReturnDocument.AFTER, session=session
            )
            if found is not None and note is not None:
                self._audit.add_in(session, found["game"], found["name"], note)
            return found

        with session_of(self._client) as session:
            found = session.with_transaction(in_transaction)
        return None if found is None else {**DEFAULTS, **found}

    def settle(self, contest: Mapping[str, Any], rounds: int) -> None:
        """Notes that all rounds up to this one were over when `contest` was read, if it is as it was then.

        Raises Unavailable.
        """
        with mongo_errors():
            self._contests.update_one(
                {"_id": contest["_id"], "revision": _revision(contest)}, {"$max": {"settled": rounds}}
            )

    def of_game(
        self, game: str, limit: int = 100, state: str | None = None, before: str | None = None
    ) -> list[dict[str, Any]]:
        """A game's contests, newest first; those made before the contest named `before`. Raises Unavailable."""
        query: dict[str, Any] = {"game": game}
        if state is not None:
            query["state"] = state
        with mongo_errors():
            if before is not None:
                last = self._contests.find_one({"game": game, "name": before}, {"createdAt": 1})
                if last is None:
                    return []
                # several may have been made within one millisecond
                at = last["createdAt"]
                query["$or"] = [{"createdAt": {"$lt": at}}, {"createdAt": at, "_id": {"$lt": last["_id"]}}]
            found = self._contests.find(query).sort([("createdAt", -1), ("_id", -1)]).limit(limit)
            return [{**DEFAULTS, **row} for row in found]

    def running(self, limit: int = 100) -> list[dict[str, Any]]:
        """The contests in the state `running` that were made last. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find({"state": "running"}).sort("createdAt", -1).limit(limit)
            return [{**DEFAULTS, **row} for row in found]

    def running_closed(self) -> list[dict[str, Any]]:
        """The running contests with a list of entrants. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find({"state": "running", "entrants": {"$type": "array"}})
            return [{**DEFAULTS, **row} for row in found]

    def due(self, now: datetime) -> list[dict[str, Any]]:
        """The contests that must start or end by now. Raises Unavailable."""
        query = {
            "$or": [
                {"state": "scheduled", "startsAt": {"$lte": now}},
                {"state": {"$in": ["scheduled", "running", "paused"]}, "endsAt": {"$lte": now}},
            ]
        }
        with mongo_errors():
            return [{**DEFAULTS, **row} for row in self._contests.find(query)]


def _revision(contest: Mapping[str, Any]) -> Any:
    # contests made before there were revisions have none
    return contest["revision"] or {"$in": [0, None]}
