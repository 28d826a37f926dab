"""The collection `meetings`: the n-th match of a pair in a contest. The ledger reserves them by inserting them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from heapq import merge
from itertools import combinations
from typing import Any

from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.runtime import sharedtime
from battlebot.runtime.cooperative import cooperatively
from battlebot.storage.batches import in_batches
from battlebot.storage.mongo import mongo_errors, transaction
from battlebot.storage.voids import SERVER, VoidCause, Voids

EVERYBODY = "*"  # instead of a pair if all meet together: there is one n-th battle, whoever takes part
FEW = 32  # up to this many bots, meetings are looked up bot by bot, or pair by pair
OF_A_BOT = [("game", 1), ("contest", 1), ("bots", 1), ("at", 1), ("_id", 1)]  # the index for that
OF_A_PAIR = [("game", 1), ("contest", 1), ("pair", 1), ("n", 1)]
AT_ONCE = 1000  # documents per batch, and meetings given up per transaction
TOLD = ("n", "round", "bots", "state", "victor", "counts")
ROW = {"_id": 0, **dict.fromkeys(TOLD, 1)}
LATELY = dict.fromkeys((*TOLD, "at"), 1)
IN_TIME = [("at", 1), ("_id", 1)]  # as MongoDB sorts; `in_time` does the same


def pair_key(bots: Iterable[str], together: bool = False) -> str:
    """The key of a pair, whoever moves first. A slash cannot be part of a name."""
    return EVERYBODY if together else "/".join(sorted(bots))


def in_time(row: Mapping[str, Any]) -> tuple[datetime, str]:
    """The sort key for the order in which meetings were reserved."""
    return row["at"], row["_id"]


@dataclass(frozen=True, slots=True)
class Meeting:
    """The `n`-th meeting of these bots, the first mover first; `match` is the id of its match, if that is played.

    `round`: 0 in formats without rounds. `together`: everybody in the contest takes part.
    """

    match: str
    bots: Sequence[str]
    n: int
    round: int = 0
    together: bool = False

    def document(self, game: str, contest: str, **state: Any) -> dict[str, Any]:
        """The meeting of a contest as it is stored, with the fields that tell its state."""
        return {
            "_id": self.match,
            "game": game,
            "contest": contest,
            "pair": pair_key(self.bots, self.together),
            "n": self.n,
            "round": self.round,
            "bots": list(self.bots),
            "first": self.bots[0],
            **state,
        }


class Meetings:
    """Documents `{_id: match id, game, contest, pair, n, bots, first, round, state: open|played|absent, victor, at}`.

    `victor` is missing while the state is open. An absent one also has `counts`, the contest's `absentCounts`.

    The unique index on (game, contest, pair, n), with n from 1 to the contest's cap, keeps a pair from meeting a sixth
    time, and a battle of all from being fought twice, whatever runs twice or races.
    """

    def __init__(self, client: MongoClient[dict[str, Any]], database: Database[dict[str, Any]], voids: Voids) -> None:
        self._client = client
        self._meetings = database["meetings"]
        self._voids = voids

    def release(self, match_ids: Iterable[str]) -> None:
        """Gives up reservations whose match never began. Raises Unavailable."""
        with mongo_errors():
            self._meetings.delete_many({"_id": {"$in": list(match_ids)}, "state": "open"})

    def lost(self, match_ids: Sequence[str], reason: str = "the match was lost") -> None:
        """Gives up reservations whose match the server has lost: it is played again. Raises Unavailable."""
        for at in range(0, len(match_ids), AT_ONCE):
            query = {"_id": {"$in": match_ids[at : at + AT_ONCE]}, "state": "open"}
            # the archive may be about to store one that Redis has lost since
            transaction(self._client, partial(self._voids.take_back, query, VoidCause(SERVER, reason)))

    def beside(
        self, session: ClientSession, game: str, contest: str, match_id: str
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """The meeting of the contest that is this match, or None, and all of its bots, both as `among` has them.

        As part of a transaction: other reads do not see yet what was written a moment ago. The caller handles the
        driver's errors.
        """
        here = {"game": game, "contest": contest}
        row = self._meetings.find_one({"_id": match_id, **here}, ROW, session=session)
        if row is None:
            return None, []
        found = self._meetings.find({**here, "bots": {"$in": row["bots"]}}, ROW, session=session).sort(IN_TIME)
        return row, list(found.hint(OF_A_BOT) if len(row["bots"]) <= FEW else found)

    def among(self, game: str, contest: str, bots: Sequence[str]) -> list[dict[str, Any]]:
        """`[{"n", "round", "bots", "state", "victor", "counts"?}]` of meetings of any of these bots, oldest first.

        Raises Unavailable.
        """
        query: dict[str, Any] = {"game": game, "contest": contest, "bots": {"$in": list(bots)}}
        # without a hint MongoDB takes another index, and looks at all meetings of the contest
        return self._told(query, OF_A_BOT if len(bots) <= FEW else None)

    def within(self, game: str, contest: str, bots: Sequence[str]) -> list[dict[str, Any]]:
        """Like `among`, for meetings of these bots with one another. Raises Unavailable."""
        inside = {"$in": list(bots), "$not": {"$elemMatch": {"$nin": list(bots)}}}
        return self._told({"game": game, "contest": contest, "bots": inside}, OF_A_BOT)

    def leads(self, game: str, contest: str, bots: Sequence[str]) -> dict[str, int]:
        """Each of these bots -> how much more often it moved first than second. Raises Unavailable."""
        theirs = {"bots": {"$in": list(bots)}}
        with mongo_errors():
            found = self._meetings.aggregate(
                [
                    {"$match": {"game": game, "contest": contest, **theirs}},
                    {"$unwind": {"path": "$bots", "includeArrayIndex": "seat"}},
                    {"$match": theirs},
                    {"$group": {"_id": "$bots", "lead": {"$sum": {"$cond": ["$seat", -1, 1]}}}},
                ],
                hint=dict(OF_A_BOT),
            )
            return dict.fromkeys(bots, 0) | {row["_id"]: row["lead"] for row in found}

    def between(self, game: str, contest: str, bots: Iterable[str]) -> list[dict[str, Any]]:
        """Like `among`, for meetings of any two of these bots, with `_id` and `at`. Not for many bots: see FEW.

        Raises Unavailable.
        """
        pairs = [pair_key(two) for two in combinations(sorted(bots), 2)]
        with mongo_errors():
            found = self._meetings.find({"game": game, "contest": contest, "pair": {"$in": pairs}}, LATELY)
            return sorted(found.hint(OF_A_PAIR), key=in_time)

    def latest(self, game: str, contest: str, bots: Collection[str]) -> list[dict[str, Any]]:
        """Like `between`, but with anybody: each bot's latest meeting, and perhaps some others of theirs.

        Raises Unavailable.
        """
        here, found, bots = {"game": game, "contest": contest}, dict[str, dict[str, Any]](), list(bots)
        with mongo_errors():
            # for more than 200 at once MongoDB would read all their meetings, and sort them
            for some in (bots[at : at + FEW] for at in range(0, len(bots), FEW)):
                # bots hardly ever wait for long: the latest meeting of each is usually among the latest of all of them
                rows = self._newest({**here, "bots": {"$in": some}}, 2 * len(some))
                for bot in set(some).difference(*(row["bots"] for row in rows)):
                    rows += self._newest({**here, "bots": bot}, 1)
                found.update((row["_id"], row) for row in rows)
        return sorted(found.values(), key=in_time)

    def _newest(self, query: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
        return list(self._meetings.find(query, LATELY).sort([("at", -1), ("_id", -1)]).limit(count).hint(OF_A_BOT))

    def last_played(self, game: str, contest: str, pairs: Sequence[str]) -> dict[str, datetime]:
        """Pair -> when the latest of its meetings that were played was reserved. Raises Unavailable."""
        query = {"game": game, "contest": contest, "pair": {"$in": list(pairs)}, "state": "played"}
        with mongo_errors():
            rows = self._meetings.find(query, {"pair": 1, "at": 1}).hint(OF_A_PAIR)
            return {row["pair"]: row["at"] for row in sorted(rows, key=in_time)}

    def unsettled(self, game: str, contest: str, settled: int) -> list[dict[str, Any]]:
        """Like `among`, for all bots: the meetings of rounds after `settled` and those that are open; for 0 all.

        Raises Unavailable.
        """
        here = {"game": game, "contest": contest}
        later = {**here, "state": {"$in": ["played", "absent"]}, "round": {"$gt": settled}}
        return self._told({"$or": [{**here, "state": "open"}, later]} if settled else here)

    def _told(self, query: Mapping[str, Any], index: list[tuple[str, int]] | None = None) -> list[dict[str, Any]]:
        # sorted by MongoDB: to read `at` of each meeting would take longer than all the rest
        with mongo_errors():
            found = self._meetings.find(query, ROW).sort(IN_TIME)
            return list(found if index is None else found.hint(index))

    def of_contest(self, game: str, contest: str) -> list[dict[str, Any]]:
        """All meetings of a contest, oldest first, without those that were taken back. Raises Unavailable."""
        with mongo_errors():
            found = self._meetings.find({"game": game, "contest": contest}, {"game": 0, "contest": 0})
            rows = list(in_batches(found, AT_ONCE))
        # sorted here, as MongoDB would begin to answer only after seconds, and part by part, for the sake of whoever
        # shares the process: there may be a hundred thousand
        parts = (sorted(rows[at : at + AT_ONCE], key=in_time) for at in range(0, len(rows), AT_ONCE))
        return list(cooperatively(merge(*cooperatively(parts), key=in_time)))

    def over_count(self, game: str, contest: str) -> int:
        """How many meetings of a contest are over. Raises Unavailable."""
        return self._count(game, contest, {"state": {"$in": ["played", "absent"]}})

    def open_count(self, game: str, contest: str) -> int:
        """How many meetings of a contest are being played. Raises Unavailable."""
        return self._count(game, contest, {"state": "open"})

    def uncounted(self, game: str, contest: str) -> int:
        """How many meetings of a contest were missed and count for nobody. Raises Unavailable."""
        return self._count(game, contest, {"counts": "void"})

    def _count(self, game: str, contest: str, which: Mapping[str, Any]) -> int:
        with mongo_errors():
            return self._meetings.count_documents({"game": game, "contest": contest, **which})

    def open_ids(self, game: str, contest: str) -> list[str]:
        """The matches of a contest's open meetings: its live ones, some that have not begun or are over already.

        Raises Unavailable.
        """
        with mongo_errors():
            found = self._meetings.find({"game": game, "contest": contest, "state": "open"}, {"_id": 1})
            return [row["_id"] for row in found]

    def open_since(self, seconds: float) -> list[str]:
        """The matches of open meetings that were reserved at least so many seconds ago. Raises Unavailable."""
        before = sharedtime.now() - timedelta(seconds=seconds)
        with mongo_errors():
            return [row["_id"] for row in self._meetings.find({"state": "open", "at": {"$lt": before}}, {"_id": 1})]

    def of_bots(self, game: str, contest: str, bots: Collection[str]) -> list[dict[str, Any]]:
        """Like `of_contest`, only of any of these bots. Raises Unavailable."""
        if not bots:
            return []
        query = {"game": game, "contest": contest, "bots": {"$in": list(bots)}}
        with mongo_errors():
            found = self._meetings.find(query, {"game": 0, "contest": 0}).sort(IN_TIME)
            return list(in_batches(found.hint(OF_A_BOT) if len(bots) <= FEW else found, AT_ONCE))
