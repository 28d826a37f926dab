"""What an operator wants to know of MongoDB: version, replica set, clock, indexes, unrated matches. Only reads."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import OperationFailure

from battlebot.storage.indexes import INDEXES, LASTING, PROPERTIES
from battlebot.storage.mongo import mongo_errors

NO_SUCH_COLLECTION = 26


@dataclass(frozen=True)
class MongoServer:
    """What the server says of itself; `replica_set` is None if it is in none."""

    version: str
    replica_set: str | None
    primary: bool


class MongoInspection:
    """Every method raises Unavailable when MongoDB does not answer."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]]) -> None:
        self._client = client
        self._database = database

    def server(self) -> MongoServer:
        """The server that answers us."""
        with mongo_errors():
            hello = self._client.admin.command("hello")
            version = self._client.admin.command("buildInfo")["version"]
        return MongoServer(version, hello.get("setName"), bool(hello.get("isWritablePrimary")))

    def clock(self) -> tuple[float, float]:
        """By how many seconds MongoDB's clock is ahead of ours, and the uncertainty of that in seconds."""
        before_s = time.time()
        with mongo_errors():
            theirs_s = self._client.admin.command("hello")["localTime"].replace(tzinfo=UTC).timestamp()
        after_s = time.time()
        return theirs_s - (before_s + after_s) / 2, (after_s - before_s) / 2

    def wrong_indexes(self) -> tuple[list[str], list[str]]:
        """`collection.index` of each index in INDEXES that is missing; of each that keeps one from being made.

        Such a one has its name, but other keys or other properties, or is the same under another name.
        """
        missing, altered = [], []
        for collection, models in INDEXES.items():
            with mongo_errors():
                try:
                    kept = self._database[collection].index_information()
                except OperationFailure as error:
                    if error.code != NO_SUCH_COLLECTION:
                        raise
                    kept = {}
            kinds = {name: _kind(found) for name, found in kept.items()}
            for model in models:
                name = model.document["name"]
                wanted = _kind({**model.document, "key": list(model.document["key"].items())})
                twins = [other for other, kind in kinds.items() if kind == wanted]
                if name in twins and all(kept[name].get(each) == model.document.get(each) for each in LASTING):
                    continue
                in_the_way = sorted({name, *twins} & kept.keys())
                altered += [f"{collection}.{other}" for other in in_the_way]
                if not in_the_way:
                    missing.append(f"{collection}.{name}")
        return missing, altered

    def contests_beside(self, formats: Collection[str]) -> list[tuple[str, str, str, str]]:
        """The contests of none of these formats, as (game, name, format, state)."""
        with mongo_errors():
            # those stored without a format are of the first one there was
            found = self._database["contests"].find({"format": {"$exists": True, "$nin": list(formats)}})
            return sorted((row["game"], row["name"], row["format"], row["state"]) for row in found)

    def unrated(self) -> dict[str, tuple[int, float]]:
        """Game -> how many stored matches are not in its ratings yet, and how many seconds ago the first ended."""
        behind = {}
        with mongo_errors():
            for game in sorted(self._database["games"].distinct("game")):
                cursor = self._database["rating_cursors"].find_one({"_id": game}) or {}
                # a number that is the time in microseconds: see arena/live/commit.lua
                after = cursor["at"][0] if "at" in cursor and not cursor.get("stale") else -1
                query = {"game": game, "match.seq": {"$gt": after}}
                first = self._database["games"].find_one(query, {"match.seq": 1}, sort=[("match.seq", 1)])
                if first is not None:
                    count = self._database["games"].count_documents(query)
                    behind[game] = (count, time.time() - first["match"]["seq"] / 1e6)
        return behind


def _kind(index: Mapping[str, Any]) -> list[Any]:
    """What makes an index the same as another: its keys, and its properties; MongoDB keeps some that are false."""
    return [index["key"], *(None if index.get(each) is False else index.get(each) for each in PROPERTIES)]
