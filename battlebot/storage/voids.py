"""The collection `voids`: meetings that were taken back. Each is played again with its number and its first mover."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.runtime import sharedtime
from battlebot.storage.mongo import mongo_errors

SERVER = "server"  # takes back matches that ended by the server's own fault or were lost with Redis


@dataclass(frozen=True, slots=True)
class VoidCause:
    """Who took a meeting back, and for what reason."""

    by: str
    reason: str


class Voids:
    """Documents `{_id: match id, game, contest, pair, n, round, bots, began, by, reason, at, playing}`.

    `bots`: the first mover first. `began`: when the meeting was reserved; documents of older versions lack it.
    `playing`: its match may still be live, and must be stopped. An open meeting is taken back by removing it from
    `meetings`: however its match ends, the archive stores it as void.
    """

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._voids = database["voids"]
        self._meetings = database["meetings"]

    def take_back(
        self, query: Mapping[str, Any], why: VoidCause, session: ClientSession, playing: bool = False
    ) -> list[str]:
        """Takes back the meetings of `query`, so that their numbers are free; returns their ids.

        As part of a transaction, whose caller handles the driver's errors.
        """
        rows = list(self._meetings.find(dict(query), session=session))
        ids = [row["_id"] for row in rows]
        if rows:
            self._voids.bulk_write([_kept(row, why, playing) for row in rows], session=session)
            self._meetings.delete_many({"_id": {"$in": ids}}, session=session)
        return ids

    def of_contest(self, game: str, contest: str, bots: Collection[str] | None = None) -> list[dict[str, Any]]:
        """`[{"n", "round", "bots"}]` of a contest, only of `bots` if given, in the order in which they were taken back.

        Raises Unavailable.
        """
        query: dict[str, Any] = {"game": game, "contest": contest}
        if bots is not None:
            query["bots"] = {"$in": list(bots)}
        with mongo_errors():
            return list(self._voids.find(query, {"n": 1, "round": 1, "bots": 1}).sort("at", 1))

    def has(self, game: str, contest: str, match_id: str) -> bool:
        """Whether the meeting of that match was taken back. Raises Unavailable."""
        with mongo_errors():
            return self._voids.find_one({"_id": match_id, "game": game, "contest": contest}, {"_id": 1}) is not None

    def spoilt(self, game: str, contest: str, since: datetime) -> list[dict[str, Any]]:
        """`[{"pair", "bots", "began"?, "at"}]` of meetings that the server took back, in the order of `at`.

        All those of each pair of which it took one back after `since`. Raises Unavailable.
        """
        query: dict[str, Any] = {"game": game, "contest": contest, "by": SERVER}
        with mongo_errors():
            pairs = self._voids.distinct("pair", {**query, "at": {"$gt": since}})
            if not pairs:
                return []
            wanted = {"_id": 0, "pair": 1, "bots": 1, "began": 1, "at": 1}
            return list(self._voids.find({**query, "pair": {"$in": pairs}}, wanted).sort("at", 1))

    def playing(self) -> list[dict[str, Any]]:
        """`[{"_id", "game", "contest", "reason", "at"}]` of those whose match may still be live. Raises Unavailable."""
        with mongo_errors():
            wanted = {"game": 1, "contest": 1, "reason": 1, "at": 1}
            return list(self._voids.find({"playing": True}, wanted))

    def stopped(self, match_ids: Sequence[str]) -> None:
        """Notes that these matches are no longer live. Raises Unavailable."""
        with mongo_errors():
            self._voids.update_many({"_id": {"$in": list(match_ids)}}, {"$unset": {"playing": ""}})

    def why(self, match_ids: Iterable[str], session: ClientSession) -> dict[str, dict[str, Any]]:
        """Match -> `{"by", "reason", "at"}`, for those taken back. The caller handles the driver's errors."""
        found = self._voids.find({"_id": {"$in": list(match_ids)}}, {"by": 1, "reason": 1, "at": 1}, session=session)
        return {row.pop("_id"): row for row in found}


def _kept(row: Mapping[str, Any], why: VoidCause, playing: bool) -> UpdateOne:
    kept = {name: row[name] for name in ("game", "contest", "pair", "n", "bots")}
    about = {"round": row.get("round", 0), "began": row["at"], "by": why.by, "reason": why.reason}
    flag = {"playing": True} if playing else {}
    return UpdateOne(
        {"_id": row["_id"]}, {"$setOnInsert": {**kept, **about, "at": sharedtime.now(), **flag}}, upsert=True
    )
