"""The archive over a MongoDB that is too slow for whole batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from lifetimes import SLOW, short_lives
from pymongo.client_session import ClientSession
from structlog.testing import capture_logs

import tasks.matches
import tasks.workbench
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.config import Settings
from battlebot.referee.events import Failed
from battlebot.storage.archive import Archive
from tasks.celeryapp import make_celery
from tasks.workbench import Workbench, match_bench

MATCHES = 10
FEW = 3  # are stored in time


@pytest.fixture
def bench(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A worker's parts, over a MongoDB that ends transactions after a second."""
    celery = make_celery(replace(settings, redis_url="unix:///there/is/none.sock"))
    celery.battlebot_settings = settings
    monkeypatch.setattr(tasks.workbench, "current_app", SimpleNamespace(_get_current_object=lambda: celery))
    monkeypatch.setattr(tasks.workbench, "match_bench", match_bench.__wrapped__)
    made = tasks.workbench._workbench.__wrapped__()
    monkeypatch.setattr(tasks.matches, "workbench", lambda: made)
    with short_lives(made.storage):
        yield made


def test_matches_that_take_too_long_together_are_stored_by_fewer(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow disk, say: else the same ones would be tried again each second, and no match would be stored."""
    store_in = Archive._store_in

    def slowly(archive: Archive, session: ClientSession, documents: Sequence[dict[str, Any]]) -> list[str]:
        stored = store_in(archive, session, documents)
        if len(documents) > FEW:
            archive._games.find_one(SLOW, session=session)
        return stored

    monkeypatch.setattr(Archive, "_store_in", slowly)
    ids = [ended(bench, number) for number in range(MATCHES)]
    with capture_logs() as logs:
        assert tasks.matches.archive() == MATCHES
    assert [line["matches"] for line in logs if line["event"] == "archive.halved"] == [5, 2]
    assert bench.finished.ids(1) == []
    assert bench.storage.games.archived(ids) == set(ids)


def ended(bench: Workbench, number: int) -> str:
    """Begins and ends a match of numberwang; returns its id."""
    seats, game = [("ada", f"n{number}/1.1"), ("bob", f"n{number}/2.1")], bench.registry["numberwang"]
    match = new_match(game, seats, bench.settings, 1000.0)
    for bot, place in seats:
        bench.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(bench.store, game, match, "numberwang")
    bench.conductor.conduct(match, Failed("a mistake"))
    return match.id
