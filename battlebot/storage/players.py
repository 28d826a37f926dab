"""The collection `players`: how long players have been online at a door that only asks for a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from battlebot.storage.mongo import DUPLICATE_KEY, mongo_errors


class Players:
    """Documents `{_id: name, since, current, before}`.

    `current`: the seconds of the connection begun at `since` (ms since the epoch); `before`: those of all earlier ones.
    """

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._players = database["players"]

    def were_online(self, stays: Iterable[tuple[str, int, float]]) -> None:
        """Notes, in one request, for how long connections have lasted: `(name, since_ms, seconds so far)` of each.

        Idempotent; ignored for a name whose later connection has begun. Raises Unavailable.
        """
        changes = [_change(*stay) for stay in stays]
        if not changes:
            return
        with mongo_errors():
            try:
                self._players.bulk_write(changes, ordered=False)
            except BulkWriteError as error:
                failures = [*error.details["writeErrors"], *error.details["writeConcernErrors"]]
                # a later connection of that name has begun
                if any(failure["code"] != DUPLICATE_KEY for failure in failures):
                    raise

    def seconds_online(self, names: Sequence[str]) -> dict[str, float]:
        """Name -> seconds, without those who have never been online. Raises Unavailable."""
        with mongo_errors():
            found = self._players.find({"_id": {"$in": list(names)}})
            return {row["_id"]: row["before"] + row["current"] for row in found}


def _change(name: str, since_ms: int, seconds: float) -> UpdateOne:
    new = {"$ne": ["$since", since_ms]}
    total = {"$add": [{"$ifNull": ["$before", 0.0]}, {"$ifNull": ["$current", 0.0]}]}
    change = {
        "before": {"$cond": [new, total, {"$ifNull": ["$before", 0.0]}]},
        "current": {"$cond": [new, seconds, {"$max": ["$current", seconds]}]},
        "since": since_ms,
    }
    older = {"$or": [{"since": {"$lte": since_ms}}, {"since": None}]}
    return UpdateOne({"_id": name, **older}, [{"$set": change}], upsert=True)
