"""The collection `contests`: named competitions. Who meets whom is in `meetings`, the ranking in `standings`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pymongo import ReturnDocument
from pymongo.database import Database

from battlebot.storage.connection import mongo_errors


class Contests:
    """Documents `{game, name, title, state, format, meetings, entrants, options, openedBy, createdAt, startsAt}`."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._contests = database["contests"]

    def find(self, game: str, name: str) -> dict[str, Any] | None:
        """The contest, or None. Raises Unavailable."""
        with mongo_errors():
            return self._contests.find_one({"game": game, "name": name})

    def open(self, game: str, name: str, meetings: int) -> dict[str, Any]:
        """The contest of that name; where there is none, a running one of format `open` is made. Raises Unavailable."""
        now = datetime.now(UTC)
        made = {
            "title": name,
            "state": "running",
            "format": "open",
            "meetings": meetings,
            "entrants": "open",
            "options": {},
            "openedBy": "login",
            "createdAt": now,
            "startsAt": now,
            "endsAt": None,
        }
        with mongo_errors():
            found = self._contests.find_one_and_update(
                {"game": game, "name": name},
                {"$setOnInsert": made},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
        assert found is not None
        return found

    def of_game(self, game: str, limit: int = 100) -> list[dict[str, Any]]:
        """A game's contests, newest first. Raises Unavailable."""
        with mongo_errors():
            return list(self._contests.find({"game": game}).sort("createdAt", -1).limit(limit))

    def running(self) -> list[dict[str, Any]]:
        """All contests in the state `running`. Raises Unavailable."""
        with mongo_errors():
            return list(self._contests.find({"state": "running"}))
