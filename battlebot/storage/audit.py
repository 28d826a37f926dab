"""The collection `audit`: what organisers, and the clock, did to contests. Only ever added to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.storage.connection import mongo_errors


@dataclass(frozen=True, slots=True)
class Note:
    """Who did what."""

    by: str
    action: str
    details: Mapping[str, Any] = field(default_factory=dict)


class Audit:
    """Documents `{game, contest, at, by, action, details}`."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._audit = database["audit"]

    def add(self, game: str, contest: str, by: str, action: str, details: Mapping[str, Any]) -> None:
        """Writes down who did what, now. Raises Unavailable."""
        with mongo_errors():
            self._audit.insert_one(_entry(game, contest, Note(by, action, details)))

    def add_in(self, session: ClientSession, game: str, contest: str, note: Note) -> None:
        """As `add`, as part of a transaction, which sees to the driver's errors itself."""
        self._audit.insert_one(_entry(game, contest, note), session=session)

    def of_contest(self, game: str, contest: str, limit: int = 1000) -> list[dict[str, Any]]:
        """`[{"at", "by", "action", "details"}]` of a contest, newest first. Raises Unavailable."""
        with mongo_errors():
            found = self._audit.find({"game": game, "contest": contest}, {"_id": 0, "game": 0, "contest": 0})
            return list(found.sort([("at", -1), ("_id", -1)]).limit(limit))


def _entry(game: str, contest: str, note: Note) -> dict[str, Any]:
    about = {"game": game, "contest": contest, "at": datetime.now(UTC)}
    return {**about, "by": note.by, "action": note.action, "details": dict(note.details)}
