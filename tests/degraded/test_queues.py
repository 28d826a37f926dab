"""Celery's queue while nobody works on it: bounded, taken in a documented order, and soon forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster import Cluster, wait_for
from standstill import standing_still

from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from tasks.celeryapp import TASK_POLICIES, Battlebot, make_celery


@pytest.fixture
def lists(settings: Settings) -> TaskLists:
    """The lists over an empty Valkey."""
    return TaskLists(connect(settings.redis_url))


@pytest.fixture
def celery(settings: Settings) -> Battlebot:
    """Celery, with no worker."""
    return make_celery(settings)


def test_what_keeps_matches_going_is_taken_first(celery: Battlebot) -> None:
    """Whatever the order in which they were sent: sweeps, the archive, pairings, ratings."""
    for name in reversed(TASK_POLICIES):
        celery.send_task(name)
    own = [name for name, policy in TASK_POLICIES.items() if policy.queue == TaskLists.QUEUE]
    with celery.connection_for_read() as connection, connection.SimpleQueue(TaskLists.QUEUE) as queue:
        taken = [queue.get_nowait().headers["task"] for _ in own]
    assert [TASK_POLICIES[name].priority for name in taken] == [0, 3, 3, 3, 6, 9, 9, 9]


@pytest.mark.parametrize("name", [name for name, policy in TASK_POLICIES.items() if policy.most], ids=str)
def test_of_each_kind_so_many_wait_and_no_more(celery: Battlebot, settings: Settings, name: str) -> None:
    """What is too much is not sent; what it would have done, the sweeps ask for again."""
    policy = TASK_POLICIES[name]
    lists = TaskLists(connect(settings.redis_url), policy.queue)
    assert policy.most is not None
    for _ in range(min(policy.most, 120)):
        assert celery.send_task(name) is not None
    if policy.most <= 120:
        assert celery.send_task(name) is None
    assert lists.lengths()[policy.priority] == min(policy.most, 120)


def test_what_a_person_asked_for_is_never_shed(celery: Battlebot, lists: TaskLists) -> None:
    """Nobody would ask again."""
    for _ in range(300):
        celery.send_task("tasks.ratings.rebuild", args=("numberwang",))
    assert lists.lengths()[9] == 300


def test_ticks_do_not_pile_up_while_the_workers_are_away(parts: Cluster, settings: Settings, lists: TaskLists) -> None:
    """Beat sends ten ticks a second to nobody; when the workers are back, the queue is empty at once."""
    worker = parts.worker(sweep_interval_s=0.2)
    parts.beat(sweep_interval_s=0.2)
    wait_for(lambda: connect(settings.redis_url).exists("bb:{0}:swept"), "a first sweep")
    with standing_still(worker.pid):
        wait_for(lambda: lists.lengths()[0] == 10, "as many ticks as may wait")
        sent_s = lists.oldest_s()
        wait_for(lambda: (lists.lengths()[9]) == 2, "some thirty ticks later")
        assert lists.lengths()[0] == 10
        assert lists.oldest_s() == sent_s
    wait_for(lambda: not any(lists.lengths().values()), "an empty queue")
    assert worker.alive


def test_a_worker_outlasts_what_celery_would_exit_for(parts: Cluster, lists: TaskLists, settings: Settings) -> None:
    """The driver raises an AttributeError in the worker's loop, as it was seen to when a connection ended under it."""
    worker = parts.worker(wsgi_module="tests.degraded.broken_wsgi")
    parts.beat(sweep_interval_s=0.2)
    log = Path(worker.program.log or "")
    wait_for(lambda: "has no attribute 'of this test'" in log.read_text(), "the error")
    wait_for(lambda: connect(settings.redis_url).exists("bb:{0}:swept"), "a sweep all the same")
    assert worker.alive


def test_a_worker_of_stateless_bots_does_not_stand_in_for_the_others(parts: Cluster) -> None:
    """It answers pings as well, but pairs and archives nothing. What an operator calls the others does not matter."""
    web, bots = parts.web(), parts.bots()
    wait_for(lambda: "ready." in bots.program.log.read_text(), "the worker of stateless bots")
    wait_for(lambda: "worker" in web.request("/readyz")[1]["since"], "the node to miss the others")
    assert web.request("/readyz")[1]["worker"] == "No worker answers."
    parts.worker(name="botswain")
    wait_for(lambda: web.request("/readyz")[1]["worker"] == "ok", "the node to hear of it")
