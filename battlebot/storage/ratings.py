"""The collections `ratings` and `rating_cursors`: bots' ratings, and up to which match they go. No arithmetic here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import pymongo
import structlog
from pymongo import DeleteOne, MongoClient, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.errors import Unavailable
from battlebot.storage.mongo import mongo_errors, snapshot, transaction

log = structlog.get_logger()

# a transaction left open by a killed process blocks others until MongoDB ends it: they do not wait for that
MOVE_S = 3.0
REPLACE_S = 20.0
REPLACED_AT_ONCE = 2000  # ratings in one transaction: on a quick machine 0.15 s; MongoDB may end it after 5 s
TOGETHER_S = 240.0  # of a game with very many bots: MongoDB keeps what was there for five minutes
COUNT_S = 60.0  # all matches of a game, of which there may be tens of millions
RESULT = {
    **dict.fromkeys(("players", "victor", "reason"), 1),
    **{f"match.{name}": 1 for name in ("seq", "void", "unrated", "places", "strikes", "evidence.bot")},
}
ROW = {"_id": 0, **dict.fromkeys(("bot_id", "mu", "sigma", "ordinal", "matches", "elo", "wins", "invalid"), 1)}

_Write = DeleteOne | UpdateOne


class Ratings:
    """Documents `{game, bot_id, mu, sigma, ordinal, matches, elo, wins, invalid}`, and one cursor per game.

    A cursor is `{_id: game, revision, stale, form?, at?, marks?}`: the ratings include the matches up to `at`;
    `revision` grows with each write, and a write that names another revision than the kept one changes nothing.
    """

    def __init__(self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]]) -> None:
        self._client = client
        self._ratings = database["ratings"]
        self._cursors = database["rating_cursors"]
        self._games = database["games"]

    def page(self, game: str, limit: int, offset: int = 0, by: str = "ordinal") -> list[dict[str, Any]]:
        """The ratings, best first by `ordinal` or `elo`, equal ones by name. Raises Unavailable."""
        with mongo_errors():
            found = self._ratings.find({"game": game}, ROW).sort([(by, -1), ("bot_id", 1)])
            return list(found.skip(offset).limit(limit))

    def better(self, game: str, value: float, by: str = "ordinal") -> int:
        """How many bots have more than that `ordinal` or `elo`. Raises Unavailable."""
        with mongo_errors():
            return self._ratings.count_documents({"game": game, by: {"$gt": value}})

    def of_bots(self, game: str, bots: Sequence[str]) -> list[dict[str, Any]]:
        """The ratings of these bots, without those that have none. Raises Unavailable."""
        with mongo_errors():
            return list(self._ratings.find({"game": game, "bot_id": {"$in": list(bots)}}, ROW))

    def together(self, game: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The cursor (empty if there is none) and all ratings of a game, as of one moment. Raises Unavailable."""
        with mongo_errors(), snapshot(self._client, TOGETHER_S) as session:
            cursor = self._cursors.find_one({"_id": game}, session=session) or {}
            return cursor, list(self._ratings.find({"game": game}, ROW, session=session))

    def games(self) -> list[str]:
        """The games that have matches or ratings. Raises Unavailable."""
        with mongo_errors():
            return sorted({*self._games.distinct("game"), *self._cursors.distinct("_id")})

    def cursor(self, game: str) -> dict[str, Any]:
        """The game's cursor; makes a stale one if there is none. Raises Unavailable."""
        made = {"revision": 0, "stale": True}
        with mongo_errors():
            if (found := self._cursors.find_one({"_id": game})) is not None:
                return found
            self._cursors.update_one({"_id": game}, {"$setOnInsert": made}, upsert=True)
        return self.cursor(game)

    def mark_stale(self, game: str, revision: int | None = None) -> None:
        """Marks all ratings of the game to be made anew by whoever rates next; only at `revision`, if it is given.

        Whoever is making them now starts again; where there is no cursor, nobody is. Raises Unavailable.
        """
        query = {"_id": game, **({} if revision is None else {"revision": revision})}
        with mongo_errors():
            self._cursors.update_one(query, {"$set": {"stale": True}, "$inc": {"revision": 1}})

    def matches(self, game: str, after: int, until: int | None = None) -> Iterator[dict[str, Any]]:
        """Yields the stored matches with `match.seq` above `after` (and up to `until`), void ones too, ordered by it.

        They have only the fields that ratings need. Raises Unavailable, also during the iteration.
        """
        between = {"$gt": after, **({} if until is None else {"$lte": until})}
        with mongo_errors():
            found = self._games.find({"game": game, "match.seq": between}, RESULT).sort("match.seq", 1)
            for _, ended in groupby(found, key=lambda match: match["match"]["seq"]):
                yield from sorted(ended, key=lambda match: match["_id"])

    def counts(self, game: str, after: int, until: int) -> tuple[int, int]:
        """How many stored matches have `match.seq` in (after, until], and how many of them are void.

        Raises Unavailable.
        """
        query = {"game": game, "match.seq": {"$gt": after, "$lte": until}}
        with mongo_errors(), pymongo.timeout(COUNT_S):
            return self._games.count_documents(query), self._games.count_documents({**query, "match.void": True})

    def move(self, game: str, revision: int, cursor: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
        """Writes ratings and moves the cursor together; returns False if the cursor is not at that revision.

        Raises Unavailable.
        """
        return self._change(game, revision, {**cursor, "stale": False}, list(_updates(game, rows)), MOVE_S)

    def replace(self, game: str, revision: int, cursor: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> bool:
        """Like `move`, but `rows` are all ratings of the game: the others are deleted. Raises Unavailable.

        If more than `REPLACED_AT_ONCE` change, this takes several transactions, of fewer if MongoDB is too slow for so
        many. Until the last the cursor is stale, and each moves it: nobody else's write comes between, and what a
        killed process has left is made anew.
        """
        changes, most, part = self._differing(game, rows), REPLACED_AT_ONCE, list[_Write]()
        while True:
            # one more than fits tells whether another part follows
            part += islice(changes, max(0, most + 1 - len(part)))
            is_last = len(part) <= most
            moved = {**cursor, "stale": False} if is_last else {"stale": True}
            try:
                is_moved = self._change(game, revision, moved, part[:most], REPLACE_S)
            except Unavailable:
                if len(part[:most]) <= 1:
                    raise
                # does it answer at all? then these are too many for the seconds that a transaction may last
                self.cursor(game)
                most = len(part[:most]) // 2
                log.warning("ratings.halved", game=game, ratings=most)
                continue
            if is_last or not is_moved:
                return is_moved
            part, revision = part[most:], revision + 1

    def _differing(self, game: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[_Write]:
        """What makes `rows` of the kept ratings: made one by one, as all together would take a lot of memory."""
        changed, gone = {row["bot_id"]: row for row in rows}, []
        with mongo_errors():
            for row in self._ratings.find({"game": game}, ROW):
                bot = row["bot_id"]
                if bot not in changed:
                    gone.append(bot)
                elif changed[bot] == row:
                    del changed[bot]
        yield from (DeleteOne({"game": game, "bot_id": bot}) for bot in gone)
        yield from _updates(game, changed.values())

    def _change(
        self, game: str, revision: int, cursor: Mapping[str, Any], writes: Sequence[_Write], within_s: float
    ) -> bool:
        def in_transaction(session: ClientSession) -> bool:
            change = {"$set": dict(cursor), "$inc": {"revision": 1}}
            taken = self._cursors.update_one({"_id": game, "revision": revision}, change, session=session)
            if taken.matched_count and writes:
                self._ratings.bulk_write(writes, session=session, ordered=False)
            return taken.matched_count == 1

        return transaction(self._client, in_transaction, within_s)


def _updates(game: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[_Write]:
    return (UpdateOne({"game": game, "bot_id": row["bot_id"]}, {"$set": dict(row)}, upsert=True) for row in rows)
