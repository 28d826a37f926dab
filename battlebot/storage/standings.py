"""The collections `standings` and `pairs`: the counts that a ranking is made from, moved with each result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.database import Database

from battlebot.contests.contest import Contest
from battlebot.storage.batches import in_batches
from battlebot.storage.mongo import mongo_errors
from battlebot.storage.moves import COUNTS

AT_ONCE = 1000  # rows per batch

Entry = tuple[str, str, str]  # game, contest, bot


class Standings:
    """Documents `{game, contest, bot_id, played, wins, draws, losses, absent, scored?}`.

    In `pairs`, two for each pair: `{game, contest, bot_id, opponent, wins, draws, losses}`.
    """

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._standings = database["standings"]
        self._pairs = database["pairs"]

    def of_contest(self, game: str, contest: str) -> list[dict[str, Any]]:
        """The rows, unordered, without `_id`; ranking them is the contests' work. Raises Unavailable."""
        query, zeroes = {"game": game, "contest": contest}, dict.fromkeys(COUNTS, 0)
        with mongo_errors():
            found = self._standings.find(query, {"_id": 0, "game": 0, "contest": 0})
            return [{**zeroes, **row} for row in in_batches(found, AT_ONCE)]

    def came(self, contest: Contest) -> list[str]:
        """The bots that have entered, by name; none if there is a list of entrants, which is what counts then.

        Raises Unavailable.
        """
        return sorted(row["bot_id"] for row in self.of_contest(*contest.where)) if contest.is_open else []

    def pairs(
        self, game: str, contest: str, bots: Sequence[str] | None = None, among: bool = False
    ) -> list[dict[str, Any]]:
        """`[{bot_id, opponent, wins, draws, losses}]` of a contest, only of `bots` if given.

        With `among` only against one another. Raises Unavailable.
        """
        query: dict[str, Any] = {"game": game, "contest": contest}
        if bots is not None:
            query["bot_id"] = {"$in": list(bots)}
            if among:
                query["opponent"] = query["bot_id"]
        with mongo_errors():
            return list(in_batches(self._pairs.find(query, {"_id": 0, "game": 0, "contest": 0}), AT_ONCE))

    def enter(self, entries: Sequence[Entry]) -> set[Entry]:
        """Gives each bot without a row one of zeroes, in one request; returns those bots. Raises Unavailable."""
        rows = list(dict.fromkeys(entries))
        zeroes = {"$setOnInsert": dict.fromkeys(COUNTS, 0)}
        writes = [UpdateOne(_key(row), zeroes, upsert=True) for row in rows]
        with mongo_errors():
            done = self._standings.bulk_write(writes, ordered=False)
        return {rows[index] for index in done.upserted_ids or ()}

    def leave(self, entry: Entry) -> None:
        """Removes a bot's row if it is one of zeroes. Raises Unavailable."""
        with mongo_errors():
            self._standings.delete_one({**_key(entry), **dict.fromkeys(COUNTS, 0)})


def _key(entry: Entry) -> dict[str, str]:
    return dict(zip(("game", "contest", "bot_id"), entry, strict=True))
