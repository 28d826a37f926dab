"""Long lists are read so that others run in between: a web node is one process, and bots play on it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count as count_from
from types import SimpleNamespace
from typing import Any

import pytest
from cup import cup
from pymongo import MongoClient
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from battlebot.config import Settings
from battlebot.runtime import cooperative
from battlebot.storage import Storage
from battlebot.storage.batches import BATCH_BYTES, FEWEST, MOST
from battlebot.storage.contests import AT_ONCE as CONTESTS_AT_ONCE
from battlebot.storage.games import Games
from battlebot.storage.meetings import AT_ONCE as MEETINGS_AT_ONCE
from battlebot.storage.standings import AT_ONCE as ROWS_AT_ONCE

MATCHES = FEWEST + 3 * MOST


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Returns a list that grows by each pause."""
    made: list[float] = []
    # the module's own: other threads use the real one
    monkeypatch.setattr(cooperative, "time", SimpleNamespace(sleep=made.append))
    return made


@pytest.fixture
def played(storage: Storage) -> Storage:
    """Returns the storage with matches of one contest."""
    about = {"void": False, "fault": "none", "endTime": datetime(2026, 11, 21, tzinfo=UTC)}
    storage.database["games"].insert_many(_match(number, about) for number in range(MATCHES))
    return storage


def _match(number: int, about: dict[str, Any]) -> dict[str, Any]:
    match = {"_id": f"m{number}", "game": "g", "contest": "c", "players": ["a", "b"], "turns": []}
    return {**match, "match": {**about, "seq": number}}


def test_a_long_list_pauses_after_each_batch(played: Storage, pauses: list[float]) -> None:
    """By more than nothing: after a sleep of 0, gevent looks at no socket."""
    listed = played.games.recent("g", MATCHES)
    assert [match["match"]["seq"] for match in listed] == list(range(MATCHES - 1, -1, -1))
    assert len(pauses) == 4
    assert min(pauses) > 0


def test_an_export_pauses_after_each_batch(played: Storage, pauses: list[float]) -> None:
    """However fast its reader is."""
    assert len(list(played.games.each_of_contest("g", "c"))) == MATCHES
    assert len(pauses) == 4


def test_contests_and_their_audit_pause_after_each_batch(storage: Storage, pauses: list[float]) -> None:
    """Each may list thousands of bots."""
    database, contests = storage.database, 2 * CONTESTS_AT_ONCE
    database["contests"].insert_many(cup(name=f"cup{number}").as_document() for number in range(contests))
    assert len(storage.contests.of_game("numberwang", contests)) == contests
    assert len(storage.contests.running(contests)) == contests
    assert len(pauses) == 4
    noted = {"game": "numberwang", "contest": "cup", "at": datetime(2026, 11, 21, tzinfo=UTC), "by": "ann"}
    change = {"action": "change", "details": {}}
    entries = FEWEST + MOST
    database["audit"].insert_many({**noted, **change, "revision": number} for number in range(entries))
    assert len(list(storage.audit.of_contest("numberwang", "cup"))) == entries
    assert len(list(storage.contests.each_of_game("numberwang", contests))) == contests
    assert len(pauses) == 8


def test_meetings_and_standings_pause_after_each_batch_and_while_they_are_sorted(
    storage: Storage, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two hundred bots there are a hundred thousand; they are in the order in which they were reserved."""
    count = 2 * MEETINGS_AT_ONCE
    rows = [{"_id": f"m{number:05}", "game": "g", "contest": "c", "pair": f"p{number}"} for number in range(count)]
    at = datetime(2026, 11, 21, tzinfo=UTC)
    storage.database["meetings"].insert_many({**row, "n": 1, "at": at} for row in reversed(rows))
    clock = count_from(0, 2 * cooperative.MOST_S)
    monkeypatch.setattr(cooperative.time, "monotonic", lambda: next(clock), raising=False)
    assert [row["_id"] for row in storage.meetings.of_contest("g", "c")] == [row["_id"] for row in rows]
    # each batch, each part that is sorted, and each meeting that is put in order
    assert len(pauses) == 2 + 2 + count
    pauses.clear()
    bots = ({"game": "g", "contest": "c", "bot_id": f"b{number}"} for number in range(2 * ROWS_AT_ONCE))
    storage.database["standings"].insert_many(bots)
    assert len(storage.standings.of_contest("g", "c")) == 2 * ROWS_AT_ONCE
    assert len(pauses) == 2


def test_a_short_list_does_not_pause(played: Storage, pauses: list[float]) -> None:
    """Most lists are short."""
    assert len(list(played.games.recent("g", FEWEST - 1))) == FEWEST - 1
    assert not pauses


class _Sizes(CommandListener):
    """Notes how many documents each batch may have."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def started(self, event: CommandStartedEvent) -> None:
        """Notes one."""
        if event.command_name == "getMore":
            self.seen.append(event.command["batchSize"])

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Of no interest."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Of no interest."""


def test_small_matches_are_read_many_at_a_time_and_large_ones_a_few(storage: Storage, settings: Settings) -> None:
    """A page of a thousand small ones in batches for large ones takes twice the time, and mongod's three times."""
    about = {"void": False, "fault": "none", "endTime": datetime(2026, 11, 21, tzinfo=UTC)}
    games = storage.database["games"]
    games.insert_many({**_match(number, about), "board": "x" * (BATCH_BYTES // 4)} for number in range(20))
    games.insert_many(_match(number, about) for number in range(20, 20 + 3 * MOST))
    sizes = _Sizes()
    with MongoClient[dict[str, Any]](settings.mongodb_uri, event_listeners=[sizes]) as client:
        matches = Games(client[storage.database.name])
        assert len(list(matches.recent("g", 1000))) == 20 + 3 * MOST
        assert sizes.seen[:3] == [FEWEST, MOST, MOST]
        sizes.seen.clear()
        assert len(list(matches.each_of_contest("g", "c"))) == 20 + 3 * MOST
        assert sizes.seen[:4] == [FEWEST, 3, 3, 3]
