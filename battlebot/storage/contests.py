"""The collection `contests`: named competitions. Who meets whom is in `meetings`, the ranking in `standings`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pymongo import MongoClient, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from battlebot.contests.contest import OPEN_STATES, OPENED_BY_LOGIN, Contest
from battlebot.errors import NameTaken
from battlebot.runtime import sharedtime
from battlebot.storage.audit import Audit, Note
from battlebot.storage.batches import by_size, in_batches
from battlebot.storage.mongo import mongo_errors, transaction
from battlebot.storage.room import Room
from battlebot.storage.voids import VoidCause, Voids

AT_ONCE = 20  # contests per batch
WITHOUT_BOTS = {"entrants": 0, "withdrawn": 0}  # there may be thousands
ID = {"_id": 1}
NEWEST = [("createdAt", -1), ("_id", -1)]  # several may have been created within one millisecond
HOLD = {"$inc": {"held": 1}}  # only a document that is written to is locked against other transactions


@dataclass(frozen=True, slots=True)
class Stop:
    """Takes back the matches that are being played: all of them, or one bot's."""

    why: VoidCause
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a contest: itself with other fields, notes for the audit, and which matches it takes back."""

    contest: Contest
    notes: Sequence[Note]
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A contest after a decision, the notes recorded, and the matches to be stopped (id -> reason)."""

    contest: Contest
    notes: Sequence[Note] = ()
    stopped: Mapping[str, str] = field(default_factory=dict)


Decide = Callable[[Contest], Change | None]


class Contests:
    """Contests as documents; a contest's game and name tell it from all others."""

    def __init__(
        self,
        client: MongoClient[dict[str, Any]],
        database: Database[dict[str, Any]],
        room: Room,
        audit: Audit,
        voids: Voids,
    ) -> None:
        self._client = client
        self._voids = voids
        self._room = room
        self._contests = database["contests"]
        self._audit = audit

    def find(self, game: str, name: str, session: ClientSession | None = None) -> Contest | None:
        """The contest, or None. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find_one({"game": game, "name": name}, session=session)
        return None if found is None else Contest.from_document(found)

    def find_to_change(self, session: ClientSession, game: str, name: str) -> Contest | None:
        """The contest, or None, as part of a transaction, which nobody can change until that transaction is over.

        Best as its first step: another transaction's write after its first read would have it begin again. The caller
        handles the driver's errors.
        """
        named = {"game": game, "name": name}
        found = self._contests.find_one_and_update(named, HOLD, return_document=ReturnDocument.AFTER, session=session)
        return None if found is None else Contest.from_document(found)

    def open(self, game: str, name: str, meetings: int) -> Contest:
        """Returns the contest of that name; makes a running one of format `open` if there is none.

        Raises DiskFull, Unavailable.
        """
        self._room.check()
        now = sharedtime.now()
        made = Contest(
            game=game,
            name=name,
            title=name,
            state="running",
            meetings=meetings,
            opened_by=OPENED_BY_LOGIN,
            created_at=now,
            starts_at=now,
            started_at=now,
            runs_since=now,
        )
        with mongo_errors():
            found = self._contests.find_one_and_update(
                {"game": game, "name": name},
                {"$setOnInsert": made.as_document()},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
        assert found is not None
        return Contest.from_document(found)

    def create(self, contest: Contest, notes: Sequence[Note] = ()) -> None:
        """Stores a new contest. Raises NameTaken, DiskFull, Unavailable."""
        self._room.check()

        def in_transaction(session: ClientSession) -> None:
            self._contests.insert_one(contest.as_document(), session=session)
            self._audit.add(session, contest, notes)

        try:
            transaction(self._client, in_transaction)
        except DuplicateKeyError:
            raise NameTaken(f"There is a contest {contest.name!r} already.", field="name") from None

    def change(self, game: str, name: str, decide: Decide) -> Changed | None:
        """Makes the change that `decide` returns for the current contest; returns None if there is no such contest.

        It is one transaction, so that a decision is made on the state that it changes: after a conflict `decide` is
        called again, perhaps several times. Raises what `decide` raises, and Unavailable.
        """

        def in_transaction(session: ClientSession) -> Changed | None:
            contest = self.find_to_change(session, game, name)
            if contest is None:
                return None
            change = decide(contest)
            return Changed(contest) if change is None else self.change_in(session, contest, change)

        return transaction(self._client, in_transaction)

    def change_in(self, session: ClientSession, contest: Contest, change: Change) -> Changed:
        """Makes a change of the contest, which was read in this transaction, and notes it in the audit."""
        before = contest.as_document()
        # not by equality: 1, 1.0 and True are equal, but stored as different values
        fields = {key: value for key, value in change.contest.as_document().items() if value is not before[key]}
        update = {"$inc": {"revision": 1}, **({"$set": fields} if fields else {})}
        found = self._contests.find_one_and_update(
            _named(contest), update, return_document=ReturnDocument.AFTER, session=session
        )
        assert found is not None
        after = Contest.from_document(found)
        self._audit.add(session, after, change.notes)
        stopped = self._take_back(session, after, change.stop) if change.stop is not None else {}
        return Changed(after, change.notes, stopped)

    def is_unchanged(self, contest: Contest) -> bool:
        """Whether the contest is as it was read. Raises Unavailable."""
        with mongo_errors():
            return self._contests.find_one(_unchanged(contest), {"_id": 1}) is not None

    def hold(self, session: ClientSession, contest: Contest) -> bool:
        """Whether the contest is running and unchanged since it was read; so it stays until the transaction commits."""
        query = {**_unchanged(contest), "state": "running"}
        return bool(self._contests.update_one(query, HOLD, session=session).matched_count)

    def _take_back(self, session: ClientSession, contest: Contest, stop: Stop) -> dict[str, str]:
        query = {"game": contest.game, "contest": contest.name, "state": "open"}
        if stop.bot is not None:
            query["bots"] = stop.bot
        return dict.fromkeys(self._voids.take_back(query, stop.why, session, playing=True), stop.why.reason)

    def settle(self, contest: Contest, rounds: int) -> None:
        """Notes that all rounds up to `rounds` were over when `contest` was read, unless it has changed since then.

        Raises Unavailable.
        """
        with mongo_errors():
            self._contests.update_one(_unchanged(contest), {"$max": {"settled": rounds}})

    def each_of_game(
        self, game: str, limit: int, state: str | None = None, before: str | None = None
    ) -> Iterator[Contest]:
        """Yields a game's contests, newest first, a few in memory at a time.

        If given, only those in `state`, and older than the contest named `before`. Raises Unavailable, also during the
        iteration.
        """
        query: dict[str, Any] = {"game": game}
        if state is not None:
            query["state"] = state
        with mongo_errors():
            if before is not None:
                last = self._contests.find_one({"game": game, "name": before}, {"createdAt": 1})
                if last is None:
                    return
                at = last["createdAt"]
                query["$or"] = [{"createdAt": {"$lt": at}}, {"createdAt": at, "_id": {"$lt": last["_id"]}}]
            stages: list[dict[str, Any]] = [{"$match": query}, {"$sort": dict(NEWEST)}, {"$limit": limit}]
            found = self._contests.aggregate_raw_batches(stages)
            for row in by_size(found, self._contests.codec_options):
                yield Contest.from_document(row)

    def of_game(self, game: str, limit: int = 100) -> list[Contest]:
        """A game's contests, as `_shown` chooses and orders them. Raises Unavailable."""
        return self._shown({"game": game}, limit)

    def running(self, limit: int) -> list[Contest]:
        """The contests in the state `running`, as `_shown` chooses and orders them. Raises Unavailable."""
        return self._shown({"state": "running"}, limit)

    def _shown(self, query: Mapping[str, Any], limit: int) -> list[Contest]:
        """The newest contests, newest first, without the bots on their lists: organisers' before those opened by login.

        If there are more than `limit`, each kind has half of the places at least: whoever may log in may open contests,
        and would push all others out.
        """
        with mongo_errors():
            organised, opened = (
                [row["_id"] for row in self._contests.find({**query, "openedBy": by}, ID).sort(NEWEST).limit(limit)]
                for by in ({"$ne": OPENED_BY_LOGIN}, OPENED_BY_LOGIN)
            )
            organised = organised[: max(limit - len(opened), limit // 2)]
            shown = organised + opened[: limit - len(organised)]
            found = self._contests.find({"_id": {"$in": shown}}, WITHOUT_BOTS)
            contests = {row["_id"]: Contest.from_document(row) for row in in_batches(found, AT_ONCE)}
        return [contests[each] for each in shown if each in contests]

    def running_closed(self) -> list[Contest]:
        """The running contests with a list of entrants. Raises Unavailable."""
        with mongo_errors():
            found = self._contests.find({"state": "running", "entrants": {"$type": "array"}})
            return [Contest.from_document(row) for row in found]

    def due(self, now: datetime) -> list[Contest]:
        """The contests whose time to start or to end has come. Raises Unavailable."""
        query = {
            "$or": [
                {"state": "scheduled", "startsAt": {"$lte": now}},
                {"state": {"$in": OPEN_STATES}, "endsAt": {"$lte": now}},
            ]
        }
        with mongo_errors():
            return [Contest.from_document(row) for row in self._contests.find(query)]


def _named(contest: Contest) -> dict[str, Any]:
    return {"game": contest.game, "name": contest.name}


def _unchanged(contest: Contest) -> dict[str, Any]:
    # contests created before there were revisions have none
    return {**_named(contest), "revision": contest.revision or {"$in": [0, None]}}
