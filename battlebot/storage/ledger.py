"""Changes to results outside the archive: matches taken back, missed meetings, recounts. All in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from pymongo import MongoClient, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.contests.contest import Contest
from battlebot.errors import Unavailable
from battlebot.runtime import sharedtime
from battlebot.storage.audit import Note
from battlebot.storage.contests import Change, Changed, Contests
from battlebot.storage.meetings import Meeting, Meetings
from battlebot.storage.mongo import mongo_errors, snapshot, transaction
from battlebot.storage.moves import COUNTS, OUTCOMES, SCORED, ByBot, ByPair, counted, counted_by_pair, move
from battlebot.storage.voids import VoidCause, Voids

RECOUNT_S = 240.0  # all results of a contest are read as of one moment: MongoDB keeps what was there for five minutes
AT_ONCE = 1000  # results in memory
MENDED_AT_ONCE = 500  # rows in one transaction: MongoDB ends one that is large, or takes seconds
MOST_NOTED = 100  # rows in one note of the audit: a document's size is limited
Row = Mapping[str, Any]
RESULT = {"game": 1, "contest": 1, "players": 1, "victor": 1, "match.places": 1, "match.scores": 1}


@dataclass(frozen=True, slots=True)
class Voided:
    """A match that was taken back: its contest afterwards, and whether it was stored (if not, it may still be live)."""

    changed: Changed
    stored: bool


class Ledger:
    """Each method is one idempotent transaction; a recount that mends much is several."""

    def __init__(
        self,
        client: MongoClient[dict[str, Any]],
        database: Database[dict[str, Any]],
        contests: Contests,
        meetings: Meetings,
        voids: Voids,
    ) -> None:
        self._client = client
        self._beside = meetings.beside
        self._games = database["games"]
        self._meetings = database["meetings"]
        self._standings = database["standings"]
        self._pairs = database["pairs"]
        self._contests = contests
        self._voids = voids

    def reserve(self, contest: Contest, wanted: Sequence[Meeting]) -> set[str] | None:
        """Inserts meetings whose matches are about to begin; returns the ids of those matches that were inserted.

        Somebody else had reserved the others. Reserves nothing and returns None unless the contest is running and as it
        was read: so whoever pauses, ends or changes a contest finds all reservations, and none follow. Raises
        Unavailable.
        """
        game, name = contest.where
        now = sharedtime.now()
        documents = [meeting.document(game, name, state="open", at=now) for meeting in wanted]

        def in_transaction(session: ClientSession) -> set[str] | None:
            if not self._contests.hold(session, contest):
                return None
            query = {"game": game, "contest": name, "pair": {"$in": [row["pair"] for row in documents]}}
            taken = {
                (row["pair"], row["n"]) for row in self._meetings.find(query, {"pair": 1, "n": 1}, session=session)
            }
            free = [row for row in documents if (row["pair"], row["n"]) not in taken]
            if free:
                self._meetings.insert_many(free, session=session)
            return {row["_id"] for row in free}

        return transaction(self._client, in_transaction)

    def void(
        self,
        game: str,
        contest: str,
        match_id: str,
        why: VoidCause,
        decide: Callable[[Contest, Row | None, Sequence[Row]], Change],
    ) -> Voided | None:
        """Takes back a match of the contest, stored or not: frees its meeting and moves the standings.

        `decide` is given the contest, the meeting (None if it is not there) and all meetings of its bots, as `Meetings`
        has them; it returns the change of the contest that goes with it, or raises if it must not be taken back.
        Returns None if there is no such match or it is already void. Raises Unavailable.
        """

        def in_transaction(session: ClientSession) -> Voided | None:
            found = self._contests.find_to_change(session, game, contest)
            query = {"_id": match_id, "game": game, "contest": contest}
            stored = self._games.find_one({**query, "match.void": False}, RESULT, session=session)
            meeting = {**query, "state": "open" if stored is None else "played"}
            if found is None or (stored is None and self._meetings.find_one(meeting, session=session) is None):
                return None
            change = decide(found, *self._beside(session, game, contest, match_id))
            # whoever read the contest before this must look again before noting that rounds, or the contest, are over
            change = replace(change, contest=replace(change.contest, settled=0))
            changed = self._contests.change_in(session, found, change)
            self._voids.take_back(meeting, why, session, playing=stored is None)
            if stored is None:
                return Voided(replace(changed, stopped={match_id: why.reason}), False)
            mark = {"by": why.by, "reason": why.reason, "at": sharedtime.now()}
            update = {"$set": {"match.void": True, "match.voided": mark}}
            self._games.update_one({"_id": match_id}, update, session=session)
            move(self._standings, self._pairs, [stored], session, -1)
            return Voided(changed, True)

        return transaction(self._client, in_transaction)

    def is_void(self, game: str, contest: str, match_id: str) -> bool:
        """Whether a match of the contest counts for nobody, stored or not. Raises Unavailable."""
        where = {"_id": match_id, "game": game, "contest": contest}
        with mongo_errors():
            stored = self._games.find_one({**where, "match.void": True}, {"_id": 1})
        return stored is not None or self._voids.has(game, contest, match_id)

    def absent(self, contest: Contest, meeting: Meeting, victor: str | None) -> bool:
        """Closes a meeting that did not take place.

        `victor`: the bot that was there, if one was. If the contest's absences count as void, no standings move.
        Returns False and changes nothing if the meeting's number is taken, or unless the contest is running and as it
        was read. Raises Unavailable.
        """
        game, name = contest.where
        state = {"state": "absent", "counts": contest.absent_counts, "victor": victor, "at": sharedtime.now()}
        result = {"game": game, "contest": name, "players": meeting.bots, "victor": victor, "absent": True}

        def in_transaction(session: ClientSession) -> bool:
            if not self._contests.hold(session, contest):
                return False
            self._meetings.insert_one(meeting.document(game, name, **state), session=session)
            if contest.absent_counts == "loss":
                move(self._standings, self._pairs, [result], session)
            return True

        try:
            return transaction(self._client, in_transaction)
        except DuplicateKeyError:
            return False

    def recount(self, game: str, contest: str, mend_by: str | None = None) -> list[dict[str, Any]]:
        """Counts the contest's standings from its games and meetings; returns where the kept ones differ.

        Rows `{bot_id, opponent?, kept, counted}`. With `mend_by` (who mends them) the kept ones are moved by what they
        differ, so that what is stored meanwhile counts as well, and the audit notes it. Raises Unavailable, also if the
        contest is changed while it is mended: somebody else may be mending it, and it would be moved twice.
        """
        with snapshot(self._client, RECOUNT_S) as session:
            found = self._contests.find(game, contest, session)
            rows = self._differing(game, contest, session)
        if mend_by is not None and found is not None:
            notes = [Note(mend_by, "recompute", {"differences": rows[:MOST_NOTED], "of": len(rows)})]
            for at in range(0, len(rows), MENDED_AT_ONCE):
                part = rows[at : at + MENDED_AT_ONCE]
                found, notes = transaction(self._client, partial(self._mend, found, notes, part)), []
        return rows

    def _mend(self, read: Contest, notes: Sequence[Note], rows: Sequence[Row], session: ClientSession) -> Contest:
        found = self._contests.find_to_change(session, *read.where)
        if found is None or found.revision != read.revision:
            raise Unavailable("The contest has been changed meanwhile: count it again.")
        for collection, writes in (
            (self._standings, [_mending(read, row, COUNTS) for row in rows if "opponent" not in row]),
            (self._pairs, [_mending(read, row, OUTCOMES) for row in rows if "opponent" in row]),
        ):
            if writes:
                collection.bulk_write(writes, session=session, ordered=False)
        return self._contests.change_in(session, found, Change(found, notes)).contest

    def _differing(self, game: str, contest: str, session: ClientSession) -> list[dict[str, Any]]:
        results, by_bot, by_pair = self._results(game, contest, session), ByBot(), ByPair()
        # a contest may have more than fit into memory
        while part := list(islice(results, AT_ONCE)):
            counted(part, by_bot)
            counted_by_pair(part, by_pair)
        return [
            *_differences(self._kept(self._standings, game, contest, session), by_bot),
            *_differences(self._kept(self._pairs, game, contest, session), by_pair),
        ]

    def _results(self, game: str, contest: str, session: ClientSession) -> Iterator[Row]:
        query = {"game": game, "contest": contest}
        yield from self._games.find({**query, "match.void": False}, RESULT, session=session)
        missed = self._meetings.find({**query, "state": "absent", "counts": "loss"}, session=session)
        yield from ({**row, "players": row["bots"], "absent": True} for row in missed)

    def _kept(
        self, collection: Any, game: str, contest: str, session: ClientSession
    ) -> dict[tuple[str, ...], dict[str, int]]:
        kept = {}
        for row in collection.find({"game": game, "contest": contest}, session=session):
            key = (game, contest, row["bot_id"], *([row["opponent"]] if "opponent" in row else []))
            kept[key] = {name: row[name] for name in _COUNTED if name in row}
        return kept


_COUNTED = (*COUNTS, SCORED)


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


def _mending(contest: Contest, row: Row, names: Sequence[str]) -> UpdateOne:
    kept, right = row["kept"], row["counted"]
    moves = {name: right.get(name, 0) - kept.get(name, 0) for name in {*names, *kept, *right}}
    who = {name: row[name] for name in ("bot_id", "opponent") if name in row}
    return UpdateOne({"game": contest.game, "contest": contest.name, **who}, {"$inc": moves}, upsert=True)
