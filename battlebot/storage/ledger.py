"""Changes to results outside the archive: matches taken back, meetings that nobody came to, recounts. Transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.storage.audit import Audit, Note
from battlebot.storage.connection import session_of
from battlebot.storage.meetings import pair_key
from battlebot.storage.moves import counted, counted_by_pair, pair_moves, standing_moves

RESULT = {"game": 1, "contest": 1, "players": 1, "victor": 1}


class Ledger:
    """Each method is one transaction; run twice, it changes nothing the second time."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]], audit: Audit) -> None:
        self._client = client
        self._games = database["games"]
        self._meetings = database["meetings"]
        self._standings = database["standings"]
        self._pairs = database["pairs"]
        self._contests = database["contests"]
        self._audit = audit

    def void(self, game: str, contest: str, match_id: str, reason: str, by: str) -> bool:
        """Takes a stored match of the contest back: its meeting is free again, the standings follow.

        False if there is no such match, or it is void already. Raises Unavailable.
        """

        def in_transaction(session: ClientSession) -> bool:
            query = {"_id": match_id, "game": game, "contest": contest, "match.void": False}
            mark = {"match.void": True, "match.voided": {"by": by, "reason": reason, "at": datetime.now(UTC)}}
            found = self._games.find_one_and_update(query, {"$set": mark}, RESULT, session=session)
            if found is None:
                return False
            self._meetings.delete_one({"_id": match_id}, session=session)
            self._standings.bulk_write(standing_moves([found], -1), session=session)
            self._pairs.bulk_write(pair_moves([found], -1), session=session)
            # whoever has seen the contest without this must look again before it says that something is over
            undone = {"$inc": {"revision": 1}, "$set": {"settled": 0}}
            self._contests.update_one({"game": game, "name": contest}, undone, session=session)
            self._audit.add_in(session, game, contest, Note(by, "void", {"match": match_id, "reason": reason}))
            return True

        with session_of(self._client) as session:
            return bool(session.with_transaction(in_transaction))

    def absent(self, contest: Mapping[str, Any], meeting: Mapping[str, Any], victor: str | None) -> bool:
        """Closes a meeting `{match, bots, n, round}` that did not take place; False if its number is taken.

        `victor` is who was there. Where the contest's absences count as void, nobody's standing moves. Raises
        Unavailable.
        """
        bots = list(meeting["bots"])
        document = {
            "_id": meeting["match"],
            "game": contest["game"],
            "contest": contest["name"],
            "pair": pair_key(bots),
            "n": meeting["n"],
            "round": meeting["round"],
            "bots": bots,
            "first": bots[0],
            "state": "absent",
            "counts": contest["absentCounts"],
            "victor": victor,
            "at": datetime.now(UTC),
        }
        result = {
            "game": contest["game"],
            "contest": contest["name"],
            "players": bots,
            "victor": victor,
            "absent": True,
        }

        def in_transaction(session: ClientSession) -> None:
            self._meetings.insert_one(document, session=session)
            if contest["absentCounts"] == "loss":
                self._standings.bulk_write(standing_moves([result]), session=session)
                self._pairs.bulk_write(pair_moves([result]), session=session)

        with session_of(self._client) as session:
            try:
                session.with_transaction(in_transaction)
            except DuplicateKeyError:
                return False
        return True

    def recount(self, game: str, contest: str, mend: bool) -> list[dict[str, Any]]:
        """Counts the contest's standings from its games and meetings; answers where the kept ones differ.

        Rows `{bot_id, opponent?, kept, counted}`. `mend` replaces the kept ones. Raises Unavailable.
        """

        def in_transaction(session: ClientSession) -> list[dict[str, Any]]:
            results = self._results(game, contest, session)
            rows = [
                *_differences(self._kept(self._standings, game, contest, session), counted(results)),
                *_differences(self._kept(self._pairs, game, contest, session), counted_by_pair(results)),
            ]
            if mend and rows:
                query = {"game": game, "contest": contest}
                self._standings.update_many(query, {"$set": dict.fromkeys(_COUNTED, 0)}, session=session)
                self._pairs.delete_many(query, session=session)
                if results:
                    self._standings.bulk_write(standing_moves(results), session=session)
                    self._pairs.bulk_write(pair_moves(results), session=session)
            return rows

        with session_of(self._client) as session:
            return list(session.with_transaction(in_transaction))

    def _results(self, game: str, contest: str, session: ClientSession) -> list[dict[str, Any]]:
        query = {"game": game, "contest": contest}
        games = list(self._games.find({**query, "match.void": False}, RESULT, session=session))
        missed = self._meetings.find({**query, "state": "absent", "counts": "loss"}, session=session)
        return [*games, *({**row, "players": row["bots"], "absent": True} for row in missed)]

    def _kept(
        self, collection: Any, game: str, contest: str, session: ClientSession
    ) -> dict[tuple[str, ...], dict[str, int]]:
        kept = {}
        for row in collection.find({"game": game, "contest": contest}, session=session):
            key = (game, contest, row["bot_id"], *([row["opponent"]] if "opponent" in row else []))
            kept[key] = {name: row.get(name, 0) for name in _COUNTED if name in row}
        return kept


_COUNTED = ("played", "wins", "draws", "losses", "absent")


def _differences(
    kept: Mapping[tuple[str, ...], Mapping[str, int]], right: Mapping[Any, Mapping[str, int]]
) -> Sequence[dict[str, Any]]:
    rows = []
    for key in sorted({*kept, *right}):
        ours = {name: count for name, count in kept.get(key, {}).items() if count}
        theirs = {name: count for name, count in right.get(key, {}).items() if count}
        if ours != theirs:
            who = {"bot_id": key[2], **({"opponent": key[3]} if len(key) > 3 else {})}
            rows.append({**who, "kept": ours, "counted": theirs})
    return rows
