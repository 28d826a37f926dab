"""The collection `games`: finished matches, in the originals' shape. Writing them is the archive's work.

A document is the final state without `complete` and `nextPlayer`, plus `_id`, `game`, `contest`, `startTime` and
`turns`. Our own fields lie under `match`: seq, endTime, fault, void, evidence, strikes, clocks, serverMs, options,
seed, version, turnTimeoutMs; places, unless two have played, and scores, if the game has some (both bot -> number);
forfeit and reconfigured, the numbers, from 1, of the entries in `turns` that are such events and no turn of a bot; if
they apply also unrated, series, voided (who took it back) and parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson import decode_iter
from pymongo.collection import Collection
from pymongo.database import Database

from battlebot.storage.batches import by_size, each
from battlebot.storage.mongo import mongo_errors

# fields under `match` with one value per turn: ms that its bot was charged, ms that the server took
PER_TURN = ("clocks", "serverMs")
LISTED = {"turns": 0, **{f"match.{name}": 0 for name in PER_TURN}}
WITHOUT_TURNS = {"$unset": list(LISTED)}
LONG = 5000  # turns; of a match with more, not all should be in memory at once for each reader
# the same condition as `is_long`
IS_LONG = {"$or": [{"$gt": ["$match.parts", 0]}, {"$gt": ["$match.version", LONG]}]}
SHORT_ONLY = {
    "turns": {"$cond": [IS_LONG, "$$REMOVE", "$turns"]},
    **{f"match.{name}": {"$cond": [IS_LONG, "$$REMOVE", f"$match.{name}"]} for name in PER_TURN},
}
# a turn of battlecube may take ten kilobytes of memory
ENTRIES_AT_ONCE = {"turns": 1000, **dict.fromkeys(PER_TURN, 50_000)}


@dataclass(frozen=True)
class Document:
    """Where some of a match's turns are; the values of PER_TURN are in fields that begin with `times`."""

    collection: Collection[dict[str, Any]]
    query: dict[str, Any]
    times: str

    def field(self, name: str) -> str:
        """The expression for `turns`, or one of PER_TURN."""
        return f"{self.times}{name}" if name in PER_TURN else f"${name}"

    def computed(self, value: dict[str, Any]) -> Any:
        """What MongoDB computes from this document, if it is there; None for an array that it lacks.

        Raises Unavailable.
        """
        steps = [{"$match": self.query}, {"$project": {"_id": 0, "value": value}}]
        with mongo_errors():
            found = list(self.collection.aggregate(steps))
        return found[0].get("value") if found else None


class Games:
    """Reads finished matches; lists are newest first, by the order in which the matches ended (`match.seq`)."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._games = database["games"]
        self._turns = database["turns"]

    def find(self, match_id: str) -> dict[str, Any] | None:
        """The whole match with its `turns`, or None. Raises Unavailable."""
        with mongo_errors():
            game = self._games.find_one({"_id": match_id})
            if game is not None and game["match"].get("parts"):
                wanted = {"turns": 1, **dict.fromkeys(PER_TURN, 1)}
                for part in self._turns.find({"match": match_id}, wanted, batch_size=1).sort("part", 1):
                    game["turns"].extend(part["turns"])
                    for name in PER_TURN:
                        game["match"].get(name, []).extend(part.get(name, []))
        return game

    def head(self, match_id: str) -> dict[str, Any] | None:
        """The match without `turns` and the values of PER_TURN, or None. Raises Unavailable."""
        with mongo_errors():
            return self._games.find_one({"_id": match_id}, LISTED)

    def entries(self, match: Mapping[str, Any], name: str) -> Iterator[list[Any]]:
        """Yields all `turns` of a match, or all values of one of PER_TURN, `ENTRIES_AT_ONCE` at a time.

        Nothing if the match has none. Raises Unavailable, also during the iteration.
        """
        size = ENTRIES_AT_ONCE[name]
        for document in self._documents(match):
            begin, more = 0, True
            while more:
                some = document.computed({"$slice": [document.field(name), begin, size]}) or []
                if some:
                    yield some
                begin, more = begin + size, len(some) == size

    def with_end(self, head: Mapping[str, Any], most: int) -> tuple[dict[str, Any], int]:
        """The match with its last turns and their times, `most` at most; and how many turns there are in all.

        Raises Unavailable.
        """
        columns: dict[str, list[Any]] = {name: [] for name in ("turns", *PER_TURN)}
        count = 0
        for document in self._documents(head):
            lasts = {name: {"$slice": [document.field(name), -most]} for name in columns}
            found = document.computed({**lasts, "count": {"$size": document.field("turns")}}) or {"count": 0}
            columns = {name: [*before, *(found.get(name) or [])][-most:] for name, before in columns.items()}
            count += found["count"]
        times = {name: columns[name] for name in PER_TURN}
        return {**head, "turns": columns["turns"], "match": {**head["match"], **times}}, count

    def _documents(self, match: Mapping[str, Any]) -> list[Document]:
        """Those that hold the match's turns, in order."""
        later = range(1, (match["match"].get("parts") or 0) + 1)
        first = Document(self._games, {"_id": match["_id"]}, "$match.")
        return [first, *(Document(self._turns, {"match": match["_id"], "part": number}, "$") for number in later)]

    def recent(
        self, game: str, limit: int, before: str | None = None, fault: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yields the most recent matches of a game, without turns, a few in memory at a time.

        If given, only those before `before`, and of that `fault`. Raises Unavailable, also during the iteration.
        """
        return self._listed({"game": game, **_of_fault(fault)}, limit, before)

    def of_player(self, game: str, player: str, limit: int, before: str | None) -> Iterator[dict[str, Any]]:
        """Yields a bot's most recent matches of a game, as `recent` does."""
        return self._listed({"game": game, "players": player}, limit, before)

    def of_contest(
        self,
        game: str,
        contest: str,
        limit: int = 1000,
        before: str | None = None,
        void: bool = False,
        fault: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yields a contest's most recent matches, as `recent` does; void ones only if `void` or with a `fault`."""
        return self._listed(_in_contest(game, contest, void, fault), limit, before)

    def numbers(self, game: str, contest: str, limit: int, before: str | None) -> list[int]:
        """The `match.seq` of the matches that `of_contest` returns, from the index alone. Raises Unavailable."""
        query = {"game": game, "contest": contest, "match.void": False}
        with mongo_errors():
            earlier = self._before(query, before)
            steps: list[dict[str, Any]] = [{"$match": earlier}, {"$sort": {"match.seq": -1}}, {"$limit": limit}]
            # as one document: a thousand small ones cost both sides several times as much
            steps.append({"$group": {"_id": None, "numbers": {"$push": "$match.seq"}}})
            return [number for found in self._games.aggregate(steps) for number in found["numbers"]]

    def numbered(self, game: str, contest: str, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yields the matches of a contest with these `match.seq` that are not void, without turns, in any order.

        They are in one batch: ask for a few. Raises Unavailable, also during the iteration.
        """
        query = {"game": game, "contest": contest, "match.void": False, "match.seq": {"$in": list(numbers)}}
        if numbers:
            with mongo_errors():
                for batch in each(self._games.find_raw_batches(query, LISTED, batch_size=len(numbers) + 1)):
                    yield from decode_iter(batch, self._games.codec_options)

    def each_of_contest(
        self, game: str, contest: str, void: bool = False, turns: bool = False, fault: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yields all of a contest's matches in the order in which they ended, a few in memory at a time.

        Void ones only if `void`, or if a `fault` is asked for. With `turns` each has its turns, but a long match
        (`is_long`): `entries` reads those. Raises Unavailable, also during the iteration.
        """
        query = _in_contest(game, contest, void, fault)
        with mongo_errors():
            shown = {"$set": SHORT_ONLY} if turns else WITHOUT_TURNS
            yield from self._found({"$match": query}, {"$sort": {"match.seq": 1}}, shown)

    def archived(self, match_ids: list[str]) -> set[str]:
        """Which of these matches are stored. Raises Unavailable."""
        with mongo_errors():
            return {row["_id"] for row in self._games.find({"_id": {"$in": match_ids}}, {"_id": 1})}

    def _listed(self, query: dict[str, Any], limit: int, before: str | None) -> Iterator[dict[str, Any]]:
        with mongo_errors():
            earlier = {"$match": self._before(query, before)}
            yield from self._found(earlier, {"$sort": {"match.seq": -1}}, {"$limit": limit}, WITHOUT_TURNS)

    def _found(self, *steps: dict[str, Any]) -> Iterator[dict[str, Any]]:
        return by_size(self._games.aggregate_raw_batches(list(steps)), self._games.codec_options)

    def _before(self, query: dict[str, Any], before: str | None) -> dict[str, Any]:
        """The query for only those that ended before the match `before`, of which none did if it is not there."""
        if before is None:
            return query
        at = self._games.find_one({"_id": before}, {"match.seq": 1})
        return {**query, "match.seq": {"$lt": at["match"]["seq"] if at else 0}}


def is_long(match: Mapping[str, Any]) -> bool:
    """Whether a stored match is too long to be read as a whole for everybody who asks for it."""
    return bool(match["match"].get("parts")) or match["match"].get("version", 0) > LONG


def _in_contest(game: str, contest: str, void: bool, fault: str | None) -> dict[str, Any]:
    # both values rather than no condition, so that the index gives the order
    wanted: Any = {"$in": [False, True]} if void or fault is not None else False
    return {"game": game, "contest": contest, "match.void": wanted, **_of_fault(fault)}


def _of_fault(fault: str | None) -> dict[str, str]:
    return {} if fault is None else {"match.fault": fault}
