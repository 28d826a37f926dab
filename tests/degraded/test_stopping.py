"""A worker is told to stop, also while Redis hangs or is gone: it ends soon, but not before its tasks do."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from cluster import wait_for
from frail import Frail

from battlebot.embedded.process import Child
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from tasks.celeryapp import make_celery
from tasks.leaving import PARTING_S

SOON_S = PARTING_S + 7.0  # Celery alone took from 24 seconds to for ever


@pytest.mark.parametrize("part", ["worker", "bots"])
@pytest.mark.parametrize("how", ["paused", "killed"])
def test_a_worker_that_has_nothing_to_do_ends_soon(frail: Frail, part: str, how: str) -> None:
    """With success, and without a word of an error."""
    child = _started(frail, part)
    with getattr(frail, how)("valkey"):
        _told_to_stop(child)
        wait_for(lambda: not child.alive, "the end", SOON_S)
    assert child.status() == "exit status 0"
    assert all(json.loads(line)["event"] for line in _log(child).splitlines()), "nothing but lines of our log"
    assert frail.errors() == []


@pytest.mark.parametrize("part", ["worker", "bots"])
def test_a_worker_says_goodbye_where_redis_answers(frail: Frail, part: str) -> None:
    """However late in a wait for its next task it was told to stop."""
    child = _started(frail, part)
    _told_to_stop(child)
    wait_for(lambda: not child.alive, "the end", SOON_S)
    assert child.status() == "exit status 0"
    assert "worker.left_without_goodbye" not in _log(child)
    assert frail.errors() == []


def test_a_worker_that_has_lost_redis_for_long_ends_soon(frail: Frail) -> None:
    """It tries to connect again when it is told to stop."""
    child = _started(frail, "worker")
    with frail.paused("valkey"):
        wait_for(lambda: "Connection to broker lost" in _log(child), "the worker to notice", 60.0)
        _told_to_stop(child)
        wait_for(lambda: not child.alive, "the end", SOON_S)
    assert child.status() == "exit status 0"
    assert frail.errors() == []


def test_what_a_worker_does_it_finishes_though_redis_hangs(frail: Frail) -> None:
    """It ends soon after its tasks, however long they take."""
    child = _started(frail, "worker")
    with frail.paused("mongod"):
        _keep_busy(frail)
        with frail.paused("valkey"):
            began_s = time.monotonic()
            # longer than the two seconds between heartbeats of Celery, which would wait for Redis for ever
            wait_for(lambda: time.monotonic() - began_s > 2.5)
            _told_to_stop(child)
            wait_for(lambda: time.monotonic() - began_s > PARTING_S + 4.0 or not child.alive)
            assert child.alive
            frail.resume("mongod")
            wait_for(lambda: not child.alive, "the end", 60.0)
    assert child.status() == "exit status 0"
    assert frail.errors() == []


def test_what_a_worker_has_taken_and_not_begun_it_puts_back(frail: Frail) -> None:
    """Where Redis answers again in time, as it does where it hung for a moment."""
    child, lists = _started(frail, "worker"), TaskLists(connect(frail.settings.redis_url))
    with frail.paused("mongod"):
        sent = _keep_busy(frail)
        with frail.paused("valkey"):
            _told_to_stop(child)
    wait_for(lambda: not child.alive, "the end", 60.0)
    assert lists.length(9) == sent - frail.settings.worker_concurrency
    assert "worker.left_without_goodbye" not in _log(child)
    assert frail.errors() == []


def _started(frail: Frail, part: str) -> Child:
    connect(frail.settings.redis_url).flushall()
    child: Child = getattr(frail.parts, part)()
    wait_for(lambda: " ready." in _log(child), f"the {part}")
    return child


def _keep_busy(frail: Frail) -> int:
    """Sends tasks that wait for MongoDB until a worker takes no more; answers how many."""
    celery, lists = make_celery(frail.settings), TaskLists(connect(frail.settings.redis_url))
    taken = 2 * frail.settings.worker_concurrency
    for _ in range(taken + 2):
        celery.send_task("tasks.ratings.rebuild", args=("numberwang",))
    # one more may be on its way to the worker
    wait_for(lambda: lists.length(9) <= 2, "tasks that wait for one another")
    return taken + 2


def _told_to_stop(child: Child) -> None:
    child.ask_to_stop()
    wait_for(lambda: "worker.stopping" in _log(child), "the worker to hear it")


def _log(child: Child) -> str:
    return Path(child.program.log or "").read_text()
