"""The end of a worker that is told to stop: Celery's, cut short where nothing but an absent Redis holds it up."""

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

PARTING_S = 5.0  # `serve` gives a second more; with a Redis that answers it takes two or three
LOOK_EVERY_S = 0.1


def leave_in_time() -> None:
    """Called once in a worker's main process: has it end soon after its last task when it is told to stop.

    A Redis that does not answer holds Celery up for minutes: it says goodbye in several calls, and tries each for long.
    What was to be said is of no use to anybody: a task that waits in the worker could not be put back.
    """
    # what it prints is no line of our log; ours says the same
    apps_worker.install_worker_term_handler = partial(apps_worker.install_worker_term_handler, verbose=False)
    signals.worker_shutting_down.connect(_told_to_stop, weak=False)


def _told_to_stop(how: str, exitcode: int, **_: Any) -> None:
    # No Thread, since that waits until it runs: gevent may handle a signal where nothing may wait
    _thread.start_new_thread(_see_out, (how.lower(), exitcode))


def _see_out(how: str, status: int) -> None:
    log.info("worker.stopping", how=how)
    idle_since_s = time.monotonic()
    while time.monotonic() < idle_since_s + PARTING_S:
        # what runs is among them; Celery before 5.7 forgets it when it is told to stop
        if state.reserved_requests:
            idle_since_s = time.monotonic()
        time.sleep(LOOK_EVERY_S)
    log.warning("worker.left_without_goodbye", reason="Redis does not answer")
    os._exit(status)
