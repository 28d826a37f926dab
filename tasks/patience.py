"""Celery's consumer and beat, made to outlast a Redis that is away: they come back soon, and say so in a line."""

from __future__ import annotations

import time
from typing import Any

import structlog
from celery.beat import PersistentScheduler, SchedulingError
from celery.worker.consumer import Consumer
from celery.worker.consumer.control import Control as CelerysControl
from celery.worker.pidbox import gPidbox

from tasks.leaving import leave_in_time

log = structlog.get_logger()

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 2.0  # Celery's own grows to half a minute, in which nobody would look after the matches

# What redis-py and kombu were seen to raise when a connection ends under them: a socket, or an answer, that is None.
# Celery takes them for errors of the program, and the worker exits.
BROKEN = (AttributeError, TypeError, ValueError, OSError)


class PatientPidbox(gPidbox):
    """Pings and the like, heard by a greenlet of its own over a connection of its own, which may be lost alone.

    Celery's would then hear none any more. Where the consumer's own connection is lost too, the consumer begins anew
    with all its parts.
    """

    _hearing: object | None = None
    _is_deaf = False

    def start(self, c: Any) -> None:
        """Begins to hear, until `on_stop`."""
        self._hearing = object()
        c.pool.spawn_n(self._hear, c, self._hearing)

    def on_stop(self) -> None:
        """Returns when nothing is heard any more."""
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
                # a Redis that cannot be written to is among the latter; it is told once until pings are heard again
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
    """Connects again after whatever its loop raises for a lost connection, and soon after Redis is back."""

    class Blueprint(Consumer.Blueprint):
        """Celery's, with our way to hear pings."""

        default_steps = tuple(
            f"{__name__}:Control" if step == "celery.worker.consumer.control:Control" else step
            for step in Consumer.Blueprint.default_steps
        )

    connection_errors: tuple[type[Exception], ...]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.connection_errors = (*self.connection_errors, *BROKEN)
        self._restart_state = Pace()
        leave_in_time()

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Gives the lost connection up, and what it had handed out: the sweep asks for that again."""
        if self.task_consumer is not None:
            # kombu would try to put it back when the channel is collected, cry that it cannot, and dump it into a file
            self.task_consumer.channel.do_restore = False
        super().on_connection_error_after_connected(exc)

    def ensure_connected(self, conn: Any) -> Any:
        """The connection, when it stands."""
        from celery.worker.state import maybe_shutdown

        self.first_connection_attempt = False
        return ensure_connection(conn, "worker", maybe_shutdown)


class Pace:
    """In the place of Celery's limit of restarts: a Redis that takes connections but no writes is tried with pauses."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def step(self) -> None:
        """Called before each new connection; returns when it may be made."""
        time.sleep(max(0.0, self._next_s - time.monotonic()))
        self._next_s = time.monotonic() + FIRST_PAUSE_S


class PatientScheduler(PersistentScheduler):
    """One line for a tick that could not be sent, and none that waits for long to be sent again."""

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Sends a due tick. One that cannot be sent is left out: the next comes soon."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            cause = error.__context__ or error
            log.warning("beat.tick_missed", tick=entry.name, error=type(cause).__name__)

    def _ensure_connected(self) -> Any:
        return ensure_connection(self.connection, "beat")


def ensure_connection(connection: Any, part: str, callback: Any = None) -> Any:
    """Tries for ever to connect, with short pauses and a line for each; answers the connection."""

    def on_error(error: Exception, pause_s: float) -> None:
        log.warning("broker.away", part=part, error=type(error).__name__, again_in_s=pause_s)

    return connection.ensure_connection(
        on_error,
        None,
        interval_start=FIRST_PAUSE_S,
        interval_step=FIRST_PAUSE_S,
        interval_max=LONGEST_PAUSE_S,
        callback=callback,
    )
