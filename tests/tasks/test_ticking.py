"""What Celery beat sends without having loaded a task."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
from cluster import Cluster, wait_for

from battlebot.config import Settings
from battlebot.embedded.commands import environment
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from tasks.celeryapp import RATINGS_SWEEP, TASK_POLICIES

SWEEPS = {"tasks.matches.sweep", "tasks.matches.tidy", "tasks.contests.sweep", "tasks.ratings.sweep"}


def test_every_tick_waits_where_its_policy_says(settings: Settings, parts: Cluster) -> None:
    """In its queue and at its priority, with its expiry, and with the moment by which workers drop what is late."""
    client = connect(settings.redis_url)
    parts.beat(sweep_interval_s=0.1)

    def waiting() -> dict[str, tuple[str, int, Any]]:
        found = {}
        for queue in (TaskLists.QUEUE, TaskLists.BOTS):
            lists = TaskLists(client, queue)
            for priority in TaskLists.PRIORITIES:
                for message in client.lrange(lists.key(priority), 0, -1):
                    headers = json.loads(message)["headers"]
                    found[headers["task"]] = (queue, priority, headers)
        return found

    wait_for(lambda: waiting().keys() == SWEEPS, f"{RATINGS_SWEEP} sweeps")
    for task, (queue, priority, headers) in waiting().items():
        policy = TASK_POLICIES[task]
        assert (queue, priority) == (policy.queue, policy.priority)
        expires_s = datetime.fromisoformat(headers["expires"]).timestamp() - headers[TaskLists.SENT]
        assert expires_s == pytest.approx(policy.expires_s, abs=5)


KNOWN = """
import wsgi
wsgi.celery.loader.init_worker()  # as the worker does
print(*wsgi.celery.tasks)
"""


def test_a_worker_that_celerys_own_command_starts_knows_the_tasks(settings: Settings) -> None:
    """`celery -A wsgi:celery worker`: it would leave aside whatever comes."""
    variables = environment(settings)
    told = subprocess.run([sys.executable, "-c", KNOWN], env=variables, capture_output=True, text=True, check=True)
    assert set(told.stdout.split()) >= TASK_POLICIES.keys()
