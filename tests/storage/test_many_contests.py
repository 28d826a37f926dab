"""What is asked about contests by every sweep and page where logins have opened many: they run for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cup import cup
from profiled import profiled

from battlebot.contests.contest import Contest
from battlebot.storage import Storage

NOW = datetime.now(UTC)
OPENED = 300
MOST_EXAMINED = 3  # documents, of those and three others

QUERIES: dict[str, tuple[Callable[[Storage], list[Contest]], list[str]]] = {
    "their clock": (lambda storage: storage.contests.due(NOW), ["begins", "ends"]),
    "their absent bots": (lambda storage: storage.contests.running_closed(), ["closed"]),
    "the running ones to be shown": (lambda storage: storage.contests.running(limit=2), ["c299", "closed"]),
    "a game's to be shown": (lambda storage: storage.contests.of_game("numberwang", limit=2), ["c299", "closed"]),
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_sweep_does_not_look_at_each(storage: Storage, query: str) -> None:
    """But only at those that it is about."""
    opened, then = cup(opened_by="login"), NOW - timedelta(hours=1)
    for number in range(OPENED):
        storage.contests.create(replace(opened, name=f"c{number}"))
    storage.contests.create(cup(name="begins", state="scheduled", starts_at=then, created_at=then))
    storage.contests.create(cup(name="ends", state="paused", ends_at=then, created_at=then))
    storage.contests.create(cup(name="closed", entrants=["a"], created_at=then))
    ask, names = QUERIES[query]
    found, looks = profiled(storage, "contests", lambda: ask(storage))
    assert sorted(contest.name for contest in found) == names
    assert sum(look["docsExamined"] for look in looks) <= MOST_EXAMINED


def names(contests: list[Contest]) -> list[str]:
    """The names of contests, in order."""
    return [contest.name for contest in contests]


def test_contests_opened_by_logins_do_not_push_those_of_organisers_out(storage: Storage) -> None:
    """Each kind has half of the places, and what the other leaves free."""
    for number in range(6):
        at = NOW + timedelta(minutes=number)
        storage.contests.create(cup(name=f"opened{number}", opened_by="login", created_at=at))
    assert names(storage.contests.running(limit=4)) == ["opened5", "opened4", "opened3", "opened2"]
    for number in range(3):
        at = NOW - timedelta(minutes=number)
        storage.contests.create(cup(name=f"cup{number}", created_at=at))
        storage.contests.create(cup(name=f"over{number}", state="finished", created_at=at - timedelta(days=1)))
    assert names(storage.contests.running(limit=4)) == ["cup0", "cup1", "opened5", "opened4"]
    assert names(storage.contests.running(limit=8)) == [
        "cup0",
        "cup1",
        "cup2",
        *(f"opened{n}" for n in range(5, 0, -1)),
    ]
    assert names(storage.contests.of_game("numberwang", 8)) == [
        *("cup0", "cup1", "cup2", "over0"),
        *(f"opened{n}" for n in range(5, 1, -1)),
    ]
