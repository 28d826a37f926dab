"""The collection `contests`: named competitions. Who meets whom is in `meetings`, the ranking in `standings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import ReturnDocument
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.errors import NameTaken
from battlebot.storage.connection import mongo_errors
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
}


class Contests:
    """Documents `{game, name, title, state, meetings, openedBy, createdAt}` and the fields of `DEFAULTS`."""

    def __init__(self, database: Database[dict[str, Any]], room: Room) -> None:
        self._room = room
        self._contests = database["contests"]

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

    def create(self, contest: Mapping[str, Any]) -> dict[str, Any]:
        """Stores a new contest with all its fields. Raises NameTaken, DiskFull, Unavailable."""
        self._room.check()
        document = {**DEFAULTS, **contest, "createdAt": datetime.now(UTC)}
        with mongo_errors():
            try:
                self._contests.insert_one(document)
            except DuplicateKeyError:
                raise NameTaken(f"There is a contest {contest['name']!r} already.", field="name") from None
        return document

    def change(
        self, contest: Mapping[str, Any], states: Sequence[str], update: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Applies `update` (MongoDB's operators) if the contest is in one of `states`; else None. Raises Unavailable.

        The condition and the change are one operation: of several processes exactly one makes a transition.
        """
        with mongo_errors():
            found = self._contests.find_one_and_update(
                {"_id": contest["_id"], "state": {"$in": list(states)}},
                dict(update),
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else {**DEFAULTS, **found}

    def of_game(
        self, game: str, limit: int = 100, state: str | None = None, before: str | None = None
    ) -> list[dict[str, Any]]:
        """A game's contests, newest first; those made before the contest named `before`. Raises Unavailable."""
        query: dict[str, Any] = {"game": game}
        if state is not None:
            query["state"] = state
        with mongo_errors():
            if before is not None:
                at = self._contests.find_one({"game": game, "name": before}, {"createdAt": 1})
                if at is None:
                    return []
                query["createdAt"] = {"$lt": at["createdAt"]}
            return [{**DEFAULTS, **row} for row in self._contests.find(query).sort("createdAt", -1).limit(limit)]

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
