"""Ends a worker that was told to stop, when only an absent Redis holds up Celery's own shutdown."""

from __future__ import annotations

import _thread
import os
import time
from functools import partial
from typing import Any

import structlog
from celery import signals
from celery.apps import worker as apps_worker
from celery.worker import state

log = structlog.get_logger()

PARTING_S = 5.0  # `serve` waits at least a second longer; with a Redis that answers the shutdown takes one to three
LOOK_EVERY_S = 0.1


def leave_in_time() -> None:
    """Has a worker end soon after its last task when it is told to stop; call once in its main process.

    A Redis that does not answer holds up Celery's shutdown for minutes: it makes several calls, and tries each for
    long. None of them matters: a task that waits in the worker could not be put back.
    """
    # what Celery prints is not in the format of our log; our own line says the same
    apps_worker.install_worker_term_handler = partial(apps_worker.install_worker_term_handler, verbose=False)
    signals.worker_shutting_down.connect(_told_to_stop, weak=False)


def _told_to_stop(how: str, exitcode: int, **_: Any) -> None:
    # no Thread: its start waits until it runs, and gevent may handle a signal where nothing may wait
    _thread.start_new_thread(_see_out, (how.lower(), exitcode))


def _see_out(how: str, status: int) -> None:
    log.info("worker.stopping", how=how)
    idle_since_s = time.monotonic()
    while time.monotonic() < idle_since_s + PARTING_S:
        # running tasks are among them; Celery before 5.7 forgets those when it is told to stop
        if state.reserved_requests:
            idle_since_s = time.monotonic()
        time.sleep(LOOK_EVERY_S)
    log.warning("worker.left_without_goodbye", reason="Redis does not answer")
    os._exit(status)
