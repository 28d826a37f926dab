"""The Celery application: broker, priorities, shedding, beat's schedule. The tasks are in the other modules."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import structlog
from celery import Celery
from celery.schedules import schedule
from kombu.exceptions import OperationalError

from battlebot.config import Settings
from battlebot.redisio.connection import connect, time_s
from battlebot.redisio.tasklists import TaskLists
from battlebot.rules.contract import MAX_TURN_TIMEOUT_MS
from battlebot.runtime import sharedtime
from tasks.polling import poll_without_limit

log = structlog.get_logger()

TASKS = ("tasks.bots", "tasks.contests", "tasks.matches", "tasks.ratings")
CONSUMER = "tasks.patience:PatientConsumer"
REQUEST = "tasks.patience:PatientRequest"
SCHEDULER = "tasks.ticking:PatientScheduler"

RATINGS_SWEEP = 15  # in sweeps; each archived batch asks for ratings, this finds what a dying worker left undone
BROKER_TIMEOUT_S = 10
# a stretch that begins its last question may wait as long as the longest turn and its leeway; clocks end each question
LONGEST_STRETCH_S = 3 * MAX_TURN_TIMEOUT_MS / 1000
LOOK_AFTER_BROKER_S = 5  # a worker that hears nothing for this long, or up to twice as long, reconnects


@dataclass(frozen=True)
class TaskPolicy:
    """How a task waits in the list of `queue`, which has workers of its own. Priority 0 is taken first.

    Nothing is sent if `most` tasks of that priority wait already; a task that has waited for `expires_s` is dropped.
    One that runs for longer than `limit_s` is taken to hang, and cut off.
    """

    priority: int
    most: int | None = None
    expires_s: float | None = None
    limit_s: float = 120.0
    queue: str = TaskLists.QUEUE


# In the order in which they are taken: first the sweep of matches, which must not wait for those that wait for MongoDB.
# Sweeps ask again for tasks that were shed or expired. A sweep does all that is due, so that the first of many has done
# the work of all.
TASK_POLICIES = {
    "tasks.matches.sweep": TaskPolicy(priority=0, most=10, expires_s=30.0),
    "tasks.contests.sweep": TaskPolicy(priority=3, most=10, expires_s=30.0),
    "tasks.matches.tidy": TaskPolicy(priority=3, most=10, expires_s=30.0, limit_s=600.0),
    "tasks.matches.archive": TaskPolicy(priority=3, most=10, expires_s=30.0, limit_s=600.0),
    "tasks.contests.pair": TaskPolicy(priority=6, most=1000, expires_s=30.0),
    "tasks.ratings.rate": TaskPolicy(priority=9, most=100, expires_s=60.0, limit_s=1800.0),
    "tasks.ratings.sweep": TaskPolicy(priority=9, most=20, expires_s=60.0, limit_s=1800.0),
    "tasks.bots.attend": TaskPolicy(priority=0, most=10, expires_s=10.0, queue=TaskLists.BOTS),
    # a stretch of a match: the sweep asks again if it was not finished
    "tasks.bots.ask": TaskPolicy(
        3, most=10_000, expires_s=TaskLists.ASKING_S, limit_s=LONGEST_STRETCH_S, queue=TaskLists.BOTS
    ),
    # a person asked for it, and nobody asks again
    "tasks.ratings.rebuild": TaskPolicy(priority=9, limit_s=1800.0),
}


class Battlebot(Celery):
    """Celery that sends each task by its policy in `TASK_POLICIES`, over a connection that is kept.

    Celery's own pool is switched off (see `broker_pool_limit`), and a new connection costs more than the task itself.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sending = threading.Lock()
        self._producer: Any = None
        self._producer_of = 0  # its process: connections must not cross a fork

    def connection_for_read(self, url: str | None = None, **options: Any) -> Any:
        """Like Celery's, but not to where another's Celery has its broker (`CELERY_BROKER_URL`)."""
        return super().connection_for_read(url or self._broker_url, **options)

    def connection_for_write(self, url: str | None = None, **options: Any) -> Any:
        """Like `connection_for_read`."""
        return super().connection_for_write(url or self._broker_url, **options)

    def send_task(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Like Celery's; returns None and sends nothing if too many such tasks wait already."""
        policy = TASK_POLICIES.get(name)
        if policy is None:
            return super().send_task(name, *arguments, **options)
        if policy.most is not None and self._lists[policy.queue].length(policy.priority) >= policy.most:
            log.debug("task.shed", task=name)
            return None
        # beat loads nothing else that would
        sharedtime.follow(partial(time_s, self._client))
        options["priority"] = policy.priority
        options["queue"] = policy.queue
        options["headers"] = {**(options.get("headers") or {}), TaskLists.SENT: sharedtime.now_s()}
        if policy.expires_s is not None:
            options["expires"] = policy.expires_s
        if "producer" in options or "connection" in options:
            # beat uses its own connection
            return super().send_task(name, *arguments, **options)
        with self._sending:
            return self._send_by_kept_producer(name, *arguments, **options)

    def _send_by_kept_producer(self, name: str, *arguments: Any, **options: Any) -> Any:
        kept = self._producer if self._producer_of == os.getpid() else None
        if kept is not None:
            try:
                return super().send_task(name, *arguments, producer=kept, **options)
            except OperationalError:
                # Redis may have been restarted since the last use; it does no harm to send a task twice
                self._producer = None
        producer = self.amqp.Producer(self.connection_for_write())
        sent = super().send_task(name, *arguments, producer=producer, **options)
        self._producer, self._producer_of = producer, os.getpid()
        return sent

    @property
    def _broker_url(self) -> str:
        return broker_url(self.battlebot_settings.redis_url)

    @cached_property
    def _client(self) -> Any:
        return connect(self.battlebot_settings.redis_url)

    @cached_property
    def _lists(self) -> dict[str, TaskLists]:
        return {queue: TaskLists(self._client, queue) for queue in (TaskLists.QUEUE, TaskLists.BOTS)}


def make_celery(settings: Settings) -> Celery:
    """A Celery application over the Redis of the settings; workers, beat and web nodes all load it.

    No results are kept: tasks write theirs to Redis and MongoDB. The task of a killed worker is not restored: the sweep
    asks for whatever is still to be done.
    """
    poll_without_limit()
    celery = Battlebot("battlebot", broker=broker_url(settings.redis_url), include=list(TASKS), set_as_current=False)
    celery.conf.update(
        task_default_queue=TaskLists.QUEUE,
        task_default_priority=TaskLists.PRIORITIES[-1],
        task_ignore_result=True,
        task_acks_late=False,
        task_serializer="json",
        accept_content=["json"],
        task_annotations={
            name: {"time_limit": policy.limit_s, "Request": REQUEST} for name, policy in TASK_POLICIES.items()
        },
        worker_consumer=CONSUMER,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # no task is acknowledged late, so none is cancelled; without this Celery warns at each loss of a future default
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,
        broker_transport_options={
            "global_keyprefix": TaskLists.PREFIX,
            "priority_steps": list(TaskLists.PRIORITIES),
            "queue_order_strategy": "priority",
            "socket_timeout": BROKER_TIMEOUT_S,
            "socket_keepalive": True,
            "health_check_interval": LOOK_AFTER_BROKER_S,
            # otherwise each task costs Redis four more writes, for a list of running tasks that nobody needs: see above
            "ack_emulation": False,
            # who sends a task is told at once that Redis is away; kombu would try again for six seconds, without a word
            "max_retries": 0,
        },
        task_publish_retry=False,
        # a ping holds one connection while it asks for another: with a limit, many at once would wait for ever
        broker_pool_limit=None,
        timezone="UTC",
        beat_schedule=_schedule(settings),
        beat_scheduler=SCHEDULER,
        beat_max_loop_interval=1,
    )
    celery.battlebot_settings = settings
    return celery


def broker_url(redis_url: str) -> str:
    """The address in Celery's form: `unix:///path?db=1` becomes `redis+socket:///path?virtual_host=1`.

    Of the options only what Celery reads is kept: `ssl_...`, and `db`, which names the database as the path does and
    takes precedence, as for the nodes. A server's certificate is checked unless the address says otherwise, as by the
    nodes: Celery's default is not to.
    """
    parts = urlsplit(redis_url)
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    database = options.get("db", "0" if parts.scheme == "unix" else parts.path.lstrip("/"))
    if parts.scheme == "unix":
        return f"redis+socket://{parts.path}?virtual_host={database}"
    secured = {name: value for name, value in options.items() if name.startswith("ssl_")}
    if parts.scheme == "rediss":
        secured.setdefault("ssl_cert_reqs", "required")
    host = parts.netloc or "localhost"  # as for the nodes
    return urlunsplit((parts.scheme, host, f"/{database}", urlencode(secured, safe="/"), ""))


def _schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    every_s = settings.sweep_interval_s
    return {
        "sweep matches": {"task": "tasks.matches.sweep", "schedule": _every(every_s)},
        "tidy matches": {"task": "tasks.matches.tidy", "schedule": _every(every_s)},
        "sweep contests": {"task": "tasks.contests.sweep", "schedule": _every(every_s)},
        "sweep ratings": {"task": "tasks.ratings.sweep", "schedule": _every(every_s * RATINGS_SWEEP)},
    }


def _every(seconds: float) -> schedule:
    # by the time of day, beat would stand still for as long as a clock is set back
    return schedule(seconds, nowfun=_steady)


def _steady() -> datetime:
    return datetime.fromtimestamp(time.monotonic(), UTC)
