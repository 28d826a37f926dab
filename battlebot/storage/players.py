"""The collection `players`: how long those have been online who play at a door where a name is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.storage.connection import mongo_errors


class Players:
    """Documents `{_id: name, since, current, before}`.

    `current` are the seconds of the connection begun at `since` (ms since the epoch), `before` those of all earlier.
    """

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._players = database["players"]

    def was_online(self, name: str, since_ms: int, seconds: float) -> None:
        """The connection that began at `since_ms` has lasted so long by now. Raises Unavailable.

        Said twice, it changes nothing; what is said of a connection after a later one has begun is not counted.
        """
        new = {"$ne": ["$since", since_ms]}
        total = {"$add": [{"$ifNull": ["$before", 0.0]}, {"$ifNull": ["$current", 0.0]}]}
        change = {
            "before": {"$cond": [new, total, {"$ifNull": ["$before", 0.0]}]},
            "current": {"$cond": [new, seconds, {"$max": ["$current", seconds]}]},
            "since": since_ms,
        }
        older = {"$or": [{"since": {"$lte": since_ms}}, {"since": None}]}
        with mongo_errors():
            try:
                self._players.update_one({"_id": name, **older}, [{"$set": change}], upsert=True)
            except DuplicateKeyError:
                # a later connection of that name has begun
                return

    def seconds_online(self, names: Sequence[str]) -> dict[str, float]:
        """name -> seconds, of those that have been online. Raises Unavailable."""
        with mongo_errors():
            found = self._players.find({"_id": {"$in": list(names)}})
            return {row["_id"]: row["before"] + row["current"] for row in found}

    def names(self, limit: int = 10_000) -> list[str]:
        """Those who have ever been online. Raises Unavailable."""
        with mongo_errors():
            return [row["_id"] for row in self._players.find({}, {"_id": 1}).sort("_id", 1).limit(limit)]
