"""The collection `audit`: what organisers, and the clock, did to contests. Append-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from battlebot.contests.contest import Contest
from battlebot.runtime import sharedtime
from battlebot.storage.batches import by_size
from battlebot.storage.mongo import mongo_errors

MOST = 1000  # entries that are listed


@dataclass(frozen=True, slots=True)
class Note:
    """Who did what."""

    by: str
    action: str
    details: Mapping[str, Any] = field(default_factory=dict)


class Audit:
    """Documents `{game, contest, revision, at, by, action, details}`; `revision`: the contest's after the change."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._audit = database["audit"]

    def add(self, session: ClientSession, contest: Contest, notes: Iterable[Note]) -> None:
        """Records who did what, in the transaction that changes the contest; the caller handles the driver's errors.

        `contest`: as it is after the change, so that entries have the order of the changes even if clocks disagree.
        """
        about = {"game": contest.game, "contest": contest.name, "revision": contest.revision}
        for note in notes:
            what = {"at": sharedtime.now(), "by": note.by, "action": note.action, "details": dict(note.details)}
            self._audit.insert_one({**about, **what}, session=session)

    def of_contest(self, game: str, contest: str) -> Iterator[dict[str, Any]]:
        """Yields `{"at", "by", "action", "details"}` of a contest, newest first, `MOST` of them, a few in memory.

        One may hold a list of thousands of bots. Raises Unavailable, also during the iteration.
        """
        steps: list[dict[str, Any]] = [
            {"$match": {"game": game, "contest": contest}},
            {"$sort": {"revision": -1, "at": -1, "_id": -1}},
            {"$limit": MOST},
            {"$project": {"_id": 0, "at": 1, "by": 1, "action": 1, "details": 1}},
        ]
        with mongo_errors():
            yield from by_size(self._audit.aggregate_raw_batches(steps), self._audit.codec_options)
