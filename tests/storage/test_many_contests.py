"""What is asked about contests with every sweep, where logins have opened many: they run for ever."""

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
    "the newest": (lambda storage: storage.contests.running(limit=1), ["closed"]),
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_sweep_does_not_look_at_each(storage: Storage, query: str) -> None:
    """But only at those that it is about."""
    opened, then = cup(opened_by="login"), NOW - timedelta(hours=1)
    for number in range(OPENED):
        storage.contests.create(replace(opened, name=f"c{number}"))
    storage.contests.create(cup(name="begins", state="scheduled", starts_at=then))
    storage.contests.create(cup(name="ends", state="paused", ends_at=then))
    storage.contests.create(cup(name="closed", entrants=["a"], created_at=NOW + timedelta(hours=1)))
    ask, names = QUERIES[query]
    found, looks = profiled(storage, "contests", lambda: ask(storage))
    assert sorted(contest.name for contest in found) == names
    assert sum(look["docsExamined"] for look in looks) <= MOST_EXAMINED
