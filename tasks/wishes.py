"""Asks workers for tasks by name, for processes that run none themselves."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from celery import Celery

from battlebot.arena.timers import in_background

log = structlog.get_logger()


def enqueuer(celery: Celery) -> Callable[..., None]:
    """`enqueue(task, *arguments)` over this application's broker. It raises nothing."""

    def send(task: str, arguments: tuple[object, ...]) -> None:
        try:
            celery.send_task(task, args=arguments)
        except Exception as error:
            log.warning("task.not_enqueued", task=task, error=type(error).__name__)

    def enqueue(task: str, *arguments: object) -> None:
        """Enqueues by name. A broker that is away is no error: the sweep asks for all that is still to be done.

        Nobody waits for it: a broker that hangs must not hold up the bots that are told of the same commit.
        """
        in_background(send, task, arguments)

    return enqueue
