"""The collection `bots`: registered programs. Credentials are sealed before they come here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.errors import NameTaken
from battlebot.runtime import sharedtime
from battlebot.storage.batches import in_batches
from battlebot.storage.mongo import mongo_errors
from battlebot.storage.room import Room

AT_ONCE = 1000  # rows per batch


class Bots:
    """Documents `{_id: bot_id, game, owner, sealed_pass_hash, date_registered, likeness}`.

    Those of stateless bots also have `url`, `available` and, after the first test, `lastTest`; if they have been asked
    at their url only since a change of it or of `available`, `asked_since`. `renewed`: when the pass_hash was
    changed, by MongoDB's clock. Names are unique over the server, and so are their likenesses.
    """

    def __init__(self, database: Database[dict[str, Any]], room: Room) -> None:
        self._room = room
        self._bots = database["bots"]

    def register(self, game: str, bot_id: str, owner: str, sealed_pass_hash: bytes, likeness: str, **more: Any) -> None:
        """Stores a bot, with `more` fields. `likeness` is the same for names that look alike.

        Raises NameTaken, DiskFull, Unavailable.
        """
        self._room.check()
        document = {
            "_id": bot_id,
            "game": game,
            "owner": owner,
            "sealed_pass_hash": sealed_pass_hash,
            "date_registered": sharedtime.now(),
            "likeness": likeness,
            **more,
        }
        with mongo_errors():
            try:
                self._bots.insert_one(document)
            except DuplicateKeyError:
                if self._bots.find_one({"_id": bot_id}, {"_id": 1}) is None:
                    raise NameTaken(f"The name {bot_id!r} looks like one that is taken.", field="bot_id") from None
                raise NameTaken(f"The name {bot_id!r} is taken.", field="bot_id") from None

    def take_back(self, bot_id: str, sealed_pass_hash: bytes) -> bool:
        """Removes a bot, if it is registered with this pass_hash, which nobody was told; returns whether it was.

        Raises Unavailable.
        """
        with mongo_errors():
            found = self._bots.delete_one({"_id": bot_id, "sealed_pass_hash": sealed_pass_hash})
        return found.deleted_count > 0

    def renew(self, bot_id: str, sealed_pass_hash: bytes, instead_of: bytes) -> bool:
        """Changes the pass_hash of a bot that has `instead_of`; returns whether it had. Raises Unavailable."""
        change = {"$set": {"sealed_pass_hash": sealed_pass_hash}, "$currentDate": {"renewed": True}}
        with mongo_errors():
            found = self._bots.update_one({"_id": bot_id, "sealed_pass_hash": instead_of}, change)
        return found.matched_count > 0

    def renewed_since(self, moment: datetime) -> list[dict[str, Any]]:
        """The documents of the bots whose pass_hash was changed after that moment. Raises Unavailable."""
        # without the type MongoDB does not take the index, which is partial, and looks at every bot
        with mongo_errors():
            return list(in_batches(self._bots.find({"renewed": {"$type": "date", "$gt": moment}}), AT_ONCE))

    def find(self, bot_id: str) -> dict[str, Any] | None:
        """The bot's document, or None. Raises Unavailable."""
        with mongo_errors():
            return self._bots.find_one({"_id": bot_id})

    def find_all(self, bot_ids: Sequence[str]) -> list[dict[str, Any] | None]:
        """Like `find` for each of these bots, in their order, in one request. Raises Unavailable."""
        with mongo_errors():
            found = {row["_id"]: row for row in self._bots.find({"_id": {"$in": list(set(bot_ids))}})}
        return [found.get(bot_id) for bot_id in bot_ids]

    def looks_taken(self, likeness: str) -> bool:
        """Whether a bot with this likeness is registered. Raises Unavailable."""
        with mongo_errors():
            return self._bots.find_one({"likeness": likeness}, {"_id": 1}) is not None

    def change(self, bot_id: str, changes: Mapping[str, Any]) -> None:
        """Sets fields of a bot. Raises Unavailable."""
        if changes:
            with mongo_errors():
                self._bots.update_one({"_id": bot_id}, {"$set": dict(changes)})

    def tested(self, bot_id: str, url: str, result: Mapping[str, Any]) -> None:
        """Keeps a test's result as `lastTest`, unless the bot has been given another url since. Raises Unavailable."""
        with mongo_errors():
            self._bots.update_one({"_id": bot_id, "url": url}, {"$set": {"lastTest": dict(result)}})

    def stateless(self) -> list[dict[str, Any]]:
        """`_id`, `game`, `url`, `available` of every stateless bot, oldest first. Raises Unavailable."""
        with mongo_errors():
            found = self._bots.find({"url": {"$type": "string"}}, {"game": 1, "url": 1, "available": 1})
            # a version that failed while it gave a bot its url has left `available` out
            return [{"available": True, **row} for row in found.sort("date_registered", 1)]

    def any_stateless(self) -> bool:
        """Whether there is a stateless bot. Raises Unavailable."""
        with mongo_errors():
            return self._bots.find_one({"url": {"$type": "string"}}, {"_id": 1}) is not None

    def addresses(self, bot_ids: Sequence[str]) -> dict[str, str]:
        """Bot -> its url, for those of these bots that are stateless. Raises Unavailable."""
        return self._addresses(bot_ids, {})

    def asked(self, bot_ids: Sequence[str]) -> dict[str, str]:
        """Like `addresses`, without those that were made unavailable: they come by themselves. Raises Unavailable."""
        return self._addresses(bot_ids, {"available": {"$ne": False}})

    def moved(self, bot_ids: Sequence[str], since: datetime) -> set[str]:
        """Which of these began to be asked at their url after that moment, by a change. Raises Unavailable."""
        if not bot_ids:
            return set()
        query = {"_id": {"$in": list(bot_ids)}, "asked_since": {"$gt": since}}
        with mongo_errors():
            return {row["_id"] for row in self._bots.find(query, {"_id": 1})}

    def _addresses(self, bot_ids: Sequence[str], more: Mapping[str, Any]) -> dict[str, str]:
        if not bot_ids:
            return {}
        query = {"_id": {"$in": list(bot_ids)}, "url": {"$type": "string"}, **more}
        with mongo_errors():
            return {row["_id"]: row["url"] for row in self._bots.find(query, {"url": 1})}

    def known(self, game: str, bot_ids: Sequence[str]) -> set[str]:
        """Which of these are registered for the game. Raises Unavailable."""
        with mongo_errors():
            return {row["_id"] for row in self._bots.find({"_id": {"$in": list(bot_ids)}, "game": game}, {"_id": 1})}

    def of_game(self, game: str, limit: int = 10_000) -> list[dict[str, Any]]:
        """`[{"bot_id", "owner", "date_registered"}]`, oldest first, without secrets. Raises Unavailable."""
        with mongo_errors():
            found = self._bots.find({"game": game}, {"owner": 1, "date_registered": 1})
            rows = list(in_batches(found.sort("date_registered", 1).limit(limit), AT_ONCE))
        return [
            {"bot_id": row["_id"], "owner": row["owner"], "date_registered": row["date_registered"]} for row in rows
        ]

    def count(self, game: str) -> int:
        """How many bots are registered for the game. Raises Unavailable."""
        with mongo_errors():
            return self._bots.count_documents({"game": game})
