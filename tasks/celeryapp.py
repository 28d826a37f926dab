"""The Celery application: broker, queues, beat's schedule. The tasks' bodies are in the files beside."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from celery import Celery

from battlebot.config import Settings

TASKS = ("tasks.contests", "tasks.matches", "tasks.ratings")

RATINGS_SWEEP = 15  # in sweeps; ratings are asked for with each archived batch, this finds what a dying worker left


def make_celery(settings: Settings) -> Celery:
    """A Celery application over the Redis of the settings; what a worker, beat and a web node load alike.

    No results are kept: what a task does is in Redis and MongoDB. A task that a killed worker held is not waited for:
    the sweep asks for whatever is still to be done.
    """
    celery = Celery("battlebot", broker=broker_url(settings.redis_url), include=list(TASKS), set_as_current=False)
    celery.conf.update(
        task_default_queue="battlebot",
        task_ignore_result=True,
        task_acks_late=False,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={"global_keyprefix": "bb:celery:", "socket_timeout": 10, "socket_keepalive": True},
        task_publish_retry=False,
        # a ping holds a connection while it asks for a second: with a limit, many at once would wait for ever
        broker_pool_limit=None,
        timezone="UTC",
        beat_schedule=_schedule(settings),
        beat_max_loop_interval=1,
    )
    celery.battlebot_settings = settings
    return celery


def broker_url(redis_url: str) -> str:
    """The address in Celery's form: `unix:///path?db=1` becomes `redis+socket:///path?virtual_host=1`."""
    if not redis_url.startswith("unix://"):
        return redis_url
    parts = urlsplit(redis_url)
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"


def _schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    every_s = settings.sweep_interval_s
    # a sweep that waited longer than a few intervals is worth nothing: the next is there
    options = {"expires": max(5.0, every_s * 5)}
    return {
        "sweep matches": {"task": "tasks.matches.sweep", "schedule": every_s, "options": options},
        "sweep contests": {"task": "tasks.contests.sweep", "schedule": every_s, "options": options},
        "sweep ratings": {"task": "tasks.ratings.sweep", "schedule": every_s * RATINGS_SWEEP, "options": options},
    }
