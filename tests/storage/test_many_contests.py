"""What is asked about contests with every sweep, where logins have opened many: they run for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cup import cup

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
    found, examined = _examined(storage, lambda: ask(storage))
    assert sorted(contest.name for contest in found) == names
    assert examined <= MOST_EXAMINED


def _examined(storage: Storage, ask: Callable[[], list[Contest]]) -> tuple[list[Contest], int]:
    """Returns the answer, and at how many documents of contests MongoDB looked for it."""
    database = storage.database
    database.drop_collection("system.profile")
    database.command("profile", 2)
    try:
        found = ask()
    finally:
        database.command("profile", 0)
    rows: list[dict[str, Any]] = list(database["system.profile"].find({"ns": f"{database.name}.contests"}))
    database.drop_collection("system.profile")
    assert rows
    return found, sum(row["docsExamined"] for row in rows)
