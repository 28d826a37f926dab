"""Celery's consumer, made to outlast an absent Redis: it reconnects soon, and logs one line about it.

And a worker with greenlets heeds soon that it is told to stop.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import structlog
from celery.worker import loops, state
from celery.worker.consumer import Consumer
from celery.worker.consumer.control import Control as CelerysControl
from celery.worker.pidbox import gPidbox
from celery.worker.request import Request

from battlebot.redisio.connection import connect, time_s
from battlebot.redisio.tasklists import TaskLists
from battlebot.runtime import sharedtime
from battlebot.runtime.loglimit import LogLimit
from tasks.celeryapp import TASK_POLICIES
from tasks.leaving import leave_in_time
from tasks.reconnecting import FIRST_PAUSE_S, ensure_connection

log = structlog.get_logger()

LOOK_EVERY_S = 1.0  # Redis ends a wait for a task as often

# What redis-py and kombu were seen to raise when their connection ends, as a socket or an answer is None then. Celery
# takes them for bugs, and the worker exits.
BROKEN = (AttributeError, TypeError, ValueError, OSError)


class PatientPidbox(gPidbox):
    """Receives pings and other commands, in a greenlet of its own over a connection of its own.

    If that connection alone is lost, Celery's pidbox would receive nothing any more. If the consumer's connection is
    lost too, the consumer begins anew with all its parts.
    """

    _hearing: object | None = None
    _is_deaf = False

    def start(self, c: Any) -> None:
        """Begins to receive, until `on_stop`."""
        self._hearing = object()
        c.pool.spawn_n(self._hear, c, self._hearing)

    def on_stop(self) -> None:
        """Stops; returns when nothing is received any more."""
        self._hearing = None
        super().on_stop()

    def _do_reset(self, c: Any, connection: Any) -> None:
        super()._do_reset(c, connection)
        self._is_deaf = False

    def _hear(self, c: Any, hearing: object) -> None:
        while self._hearing is hearing:
            try:
                self.loop(c)
            except (*c.connection_errors, *c.channel_errors) as error:
                # a Redis that takes no writes is among the latter; logged once until pings are received again
                if not self._is_deaf:
                    log.warning("worker.deaf_to_pings", error=type(error).__name__, sentence=str(error))
                self._is_deaf = True
            except Exception:
                log.exception("worker.deaf_to_pings")
            time.sleep(FIRST_PAUSE_S)


class Control(CelerysControl):
    """The consumer's part that answers pings."""

    def __init__(self, c: Any, **named: Any) -> None:
        super().__init__(c, **named)
        if self.is_green:
            self.box = PatientPidbox(c)
            self.start, self.stop, self.shutdown = self.box.start, self.box.stop, self.box.shutdown


class PatientConsumer(Consumer):
    """Reconnects soon after Redis is back, whatever its loop raises for a lost connection."""

    class Blueprint(Consumer.Blueprint):
        """Celery's, with our `Control`."""

        default_steps = tuple(
            f"{__name__}:Control" if step == "celery.worker.consumer.control:Control" else step
            for step in Consumer.Blueprint.default_steps
        )

    connection_errors: tuple[type[Exception], ...]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.connection_errors = (*self.connection_errors, *BROKEN)
        self._restart_state = RestartPace()
        self._tells = LogLimit()
        if self.pool.is_green:
            self.loop = partial(attentively, loops.synloop)
        sharedtime.follow(partial(time_s, connect(self.app.battlebot_settings.redis_url)))
        leave_in_time()

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Gives up the lost connection and the tasks it had handed out: the sweep asks for those again."""
        if self.task_consumer is not None:
            # when the channel is collected, kombu would try to put them back, complain, and dump them into a file
            self.task_consumer.channel.do_restore = False
        super().on_connection_error_after_connected(exc)

    def ensure_connected(self, conn: Any) -> Any:
        """Returns the connection once it is established."""
        from celery.worker.state import maybe_shutdown

        self.first_connection_attempt = False
        return ensure_connection(conn, "worker", maybe_shutdown)

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        """Leaves aside a task that only another version knows: during an upgrade its parts send to the same queue.

        It is as if the task were lost, as any may be. Celery's own method writes a traceback, and what is in the task.
        """
        task = message.headers["task"]
        if self._tells(task):
            log.warning("task.unknown", task=task)
        message.reject()


class PatientRequest(Request):
    """A task that has come to a worker: it is dropped by its policy and the time that all processes share.

    Celery's own goes by the clocks of two machines: a worker whose clock is ahead would drop all.
    """

    def maybe_expire(self) -> bool:
        """Returns whether it has waited for too long; then it is not done."""
        policy, sent_s = TASK_POLICIES.get(self.name), self.request_dict.get(TaskLists.SENT)
        if policy is None or policy.expires_s is None or sent_s is None:
            return bool(super().maybe_expire())
        if sharedtime.now_s() - sent_s <= policy.expires_s:
            return False
        state.revoked.add(self.id)
        return True


def attentively(loop: Any, consumer: Any, connection: Any, *others: Any) -> None:
    """Runs Celery's `loop` of a worker with greenlets, with waits that end soon after it was told to stop.

    Celery's own wait for two to three seconds, the last of them after the worker knows: with all else that a shutdown
    takes, longer than `leave_in_time` allows.
    """
    loop(consumer, Attentive(connection), *others)


class Attentive:
    """A connection to the broker whose waits for messages end when the worker is told to stop."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def drain_events(self, timeout: float) -> None:
        """Handles what comes next. Raises TimeoutError, sooner than after `timeout` seconds, if nothing comes."""
        if state.should_stop is not None or state.should_terminate is not None:
            raise TimeoutError
        self._connection.drain_events(timeout=min(timeout, LOOK_EVERY_S))


class RestartPace:
    """Replaces Celery's limit of restarts by pauses: a Redis may take connections, but no writes, for long."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def step(self) -> None:
        """Waits until a new connection may be made; called before each."""
        time.sleep(max(0.0, self._next_s - time.monotonic()))
        self._next_s = time.monotonic() + FIRST_PAUSE_S
