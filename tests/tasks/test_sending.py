"""How tasks are sent: over one connection that is kept, and made anew when it has broken."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from cluster import free_port
from kombu.exceptions import OperationalError

from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from battlebot.rules.contract import MAX_TURN_TIMEOUT_MS
from battlebot.stateless.stretch import LONGEST_S
from tasks.celeryapp import make_celery

TASK = "tasks.ratings.rebuild"  # never shed


def test_tasks_share_a_connection_and_outlast_its_end(settings: Settings) -> None:
    """A connection a task would cost more than the task; one that Redis has closed is replaced unnoticed."""
    client = connect(settings.redis_url)
    celery = make_celery(settings)
    celery.send_task(TASK)
    before = client.info("stats")["total_connections_received"]
    for _ in range(5):
        celery.send_task(TASK)
    assert client.info("stats")["total_connections_received"] == before
    client.client_kill_filter(_type="normal", skipme=True)
    celery.send_task(TASK)
    assert TaskLists(client).lengths()[9] == 7
    assert client.info("stats")["total_connections_received"] > before


def test_who_sends_a_task_while_redis_is_away_is_told_at_once(settings: Settings) -> None:
    """By itself kombu pauses for two seconds, then for four, and says nothing meanwhile."""
    celery = make_celery(replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}/0"))
    began_s = time.monotonic()
    with pytest.raises(OperationalError):
        celery.send_task(TASK)
    assert time.monotonic() - began_s < 5


def test_a_bot_that_may_think_for_an_hour_is_waited_for(settings: Settings) -> None:
    """The task that asks it is cut off later than its own clock runs out, whatever was asked in it before."""
    limits = make_celery(settings).conf.task_annotations
    turn_s = leeway_s = MAX_TURN_TIMEOUT_MS / 1000
    assert limits["tasks.bots.ask"]["time_limit"] > LONGEST_S + turn_s + leeway_s
