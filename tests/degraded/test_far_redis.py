"""A Redis that is far away: a ping of Celery's, which asks it some sixty times, takes seconds."""

from __future__ import annotations

import redis

from app import _readiness
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.storage import Storage
from tasks.celeryapp import make_celery


def test_a_worker_that_sweeps_counts_as_there_whatever_its_ping_takes(
    settings: Settings, storage: Storage, client: redis.Redis
) -> None:
    """It is asked only if nobody has swept lately."""
    ready = _readiness(client, storage, make_celery(settings))
    client.set(keys.SWEPT, "1")
    assert ready._look()["worker"] == "ok"
    client.delete(keys.SWEPT)
    assert ready._look()["worker"] == "No worker answers."
