"""The collection `audit`: what organisers, and the clock, did to contests. Only ever added to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.storage.connection import mongo_errors


class Audit:
    """Documents `{game, contest, at, by, action, details}`."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._audit = database["audit"]

    def add(
        self,
        game: str,
        contest: str,
        by: str,
        action: str,
        details: dict[str, Any] | None = None,
        session: ClientSession | None = None,
    ) -> None:
        """Writes down who did what, now. Raises Unavailable."""
        document = {
            "game": game,
            "contest": contest,
            "at": datetime.now(UTC),
            "by": by,
            "action": action,
            "details": details or {},
        }
        with mongo_errors():
            self._audit.insert_one(document, session=session)

    def of_contest(self, game: str, contest: str, limit: int = 1000) -> list[dict[str, Any]]:
        """`[{"at", "by", "action", "details"}]` of a contest, newest first. Raises Unavailable."""
        with mongo_errors():
            found = self._audit.find({"game": game, "contest": contest}, {"_id": 0, "game": 0, "contest": 0})
            return list(found.sort([("at", -1), ("_id", -1)]).limit(limit))
