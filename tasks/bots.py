"""Tasks about stateless bots, on the queue `bots`: a worker with greenlets asks them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import structlog
from celery import shared_task, signals

from battlebot.errors import Unavailable
from battlebot.redisio.tasklists import TaskLists
from tasks.workbench import workbench

if TYPE_CHECKING:
    from tasks.desk import Desk

log = structlog.get_logger()


@shared_task(name="tasks.bots.ask")
def ask(match_id: str) -> int:
    """Asks the stateless bots of a match while it waits for them alone; returns how many answers were committed."""
    try:
        return _desk().stretches.conduct(match_id)
    except Unavailable as error:
        # the sweep will find the match
        log.warning("bots.asking_put_off", match=match_id, error=str(error))
        return 0


@shared_task(name="tasks.bots.attend")
def attend() -> int:
    """Keeps a ticket of each stateless bot in the queues where it may be matched; returns how many were added."""
    try:
        return workbench().mutex("attend").run(_desk().attendance.look)
    except Unavailable as error:
        log.warning("bots.attendance_put_off", error=str(error))
        return 0


def _desk() -> Desk:
    # it needs greenlets, which workers of other queues do not have
    from tasks.desk import desk

    return desk()


def _when_ready(sender: Any, **_: Any) -> None:
    """Makes the desk of a worker that asks bots at its start: published answers wait for their acknowledgement."""
    if TaskLists.BOTS in sender.app.amqp.queues.consume_from:
        threading.Thread(target=_desk, name="desk", daemon=True).start()


signals.worker_ready.connect(_when_ready, weak=False)
