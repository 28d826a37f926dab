"""Stores finished matches, closes their meetings and moves the standings: one MongoDB transaction per batch.

Idempotent, also between workers: everything is keyed by the matches' ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bson import encode
from pymongo import InsertOne, MongoClient, ReplaceOne, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import PyMongoError

from battlebot.errors import Unavailable
from battlebot.storage.games import PER_TURN
from battlebot.storage.mongo import mongo_errors, transaction
from battlebot.storage.moves import move
from battlebot.storage.voids import SERVER, VoidCause, Voids

PART_BYTES = 4_000_000  # a document holds at most 16 MB; very long matches need more


class Archive:
    """Writes finished matches as `Games` describes them."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]], voids: Voids) -> None:
        self._client = client
        self._voids = voids
        self._games = database["games"]
        self._turns = database["turns"]
        self._meetings = database["meetings"]
        self._standings = database["standings"]
        self._pairs = database["pairs"]

    def store(self, games: Sequence[dict[str, Any]]) -> list[str]:
        """Stores the matches that are not stored yet; returns their ids. Raises Unavailable: all are stored, or none.

        A match of a contest whose meeting is not open any more (it was taken back, or another match took its place) is
        stored as void.
        """
        with mongo_errors():
            documents = [self._without_overlong_turns(game) for game in games]
            return transaction(self._client, lambda session: self._store_in(session, documents))

    def check(self) -> None:
        """Raises Unavailable, with MongoDB's words, if it would store no match now, whatever is in it."""
        try:
            with mongo_errors():
                transaction(self._client, self._store_nothing)
        except PyMongoError as error:
            words = str(error).partition(", full error")[0]
            raise Unavailable(f"MongoDB stores no match now: {words}") from error

    def _store_nothing(self, session: ClientSession) -> None:
        row = self._games.insert_one({"match": {}}, session=session)
        self._games.delete_one({"_id": row.inserted_id}, session=session)

    def _store_in(self, session: ClientSession, documents: Sequence[dict[str, Any]]) -> list[str]:
        ids = [document["_id"] for document in documents]
        stored = _ids(self._games.find({"_id": {"$in": ids}}, {"_id": 1}, session=session))
        fresh = [document for document in documents if document["_id"] not in stored]
        if not fresh:
            return []
        fresh_ids = [document["_id"] for document in fresh]
        query = {"_id": {"$in": fresh_ids}, "state": "open"}
        met = _ids(self._meetings.find(query, {"_id": 1}, session=session))
        fresh = self._void_unless_met(session, fresh, met)
        counted = [document for document in fresh if not document["match"]["void"]]
        void = [document["_id"] for document in fresh if document["match"]["void"]]
        self._games.bulk_write([InsertOne(document) for document in fresh], session=session, ordered=False)
        if any(document["contest"] is not None for document in counted):
            self._meetings.bulk_write(_closings(counted), session=session, ordered=False)
            move(self._standings, self._pairs, counted, session)
        if not met.isdisjoint(void):
            query = {"_id": {"$in": void}, "state": "open"}
            self._voids.take_back(query, VoidCause(SERVER, "the match ended by the server's fault"), session)
        return fresh_ids

    def _void_unless_met(
        self, session: ClientSession, fresh: list[dict[str, Any]], met: Collection[str]
    ) -> list[dict[str, Any]]:
        """Returns the matches. One of a contest is void if it is not among `met`: its meeting is not open any more."""
        unmet = [row["_id"] for row in fresh if row["contest"] is not None and row["_id"] not in met]
        if not unmet:
            return fresh
        marks: dict[str, dict[str, Any]] = {match_id: {"void": True} for match_id in unmet}
        for match_id, why in self._voids.why(unmet, session).items():
            marks[match_id]["voided"] = why
        return [{**row, "match": {**row["match"], **marks.get(row["_id"], {})}} for row in fresh]

    def _without_overlong_turns(self, game: dict[str, Any]) -> dict[str, Any]:
        parts = _parts(game)
        if len(parts) <= 1:
            return game
        self._turns.bulk_write(
            [
                ReplaceOne(
                    {"match": game["_id"], "part": number},
                    {"match": game["_id"], "part": number, **part},
                    upsert=True,
                )
                for number, part in enumerate(parts[1:], start=1)
            ]
        )
        turns = parts[0].pop("turns")
        return {**game, "turns": turns, "match": {**game["match"], **parts[0], "parts": len(parts) - 1}}


def _ids(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {row["_id"] for row in rows}


def _closings(counted: Sequence[dict[str, Any]]) -> list[UpdateOne]:
    return [
        UpdateOne({"_id": document["_id"]}, {"$set": {"state": "played", "victor": document["victor"]}})
        for document in counted
        if document["contest"] is not None
    ]


def _parts(game: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Splits the turns of a match, and the values kept per turn, into documents small enough for MongoDB.

    The first also holds the rest of the match: none of the turns, if that alone is large.
    """
    columns = {"turns": game["turns"], **{name: game["match"][name] for name in PER_TURN if name in game["match"]}}
    about = {name: value for name, value in game["match"].items() if name not in PER_TURN}
    parts, begin, size = [], 0, len(encode({**game, "turns": [], "match": about}))
    for index, turn in enumerate(game["turns"]):
        turn_bytes = len(encode(turn)) + 32
        if size and size + turn_bytes > PART_BYTES:
            parts.append({name: values[begin:index] for name, values in columns.items()})
            begin, size = index, 0
        size += turn_bytes
    parts.append({name: values[begin:] for name, values in columns.items()})
    return parts
