"""Requests of tasks, by the tasks' names: whoever makes one need not load the tasks."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from celery import Celery

from battlebot.runtime.background import in_background

log = structlog.get_logger()

ARCHIVE_EVERY_S = 0.1  # matches that end within it are stored together: a batch costs hardly more than one of them

Send = Callable[..., None]


class Requests:
    """One method a task. None of them raises anything, or says whether the broker took the task.

    A broker that is away is no error: the sweeps request whatever is still to be done.
    """

    def __init__(self, send: Send) -> None:
        """`send(task, *arguments)` is one of the two below."""
        self._send = send

    def archive(self) -> None:
        """Stores the matches that have ended."""
        self._send("tasks.matches.archive")

    def bots(self, match_id: str) -> None:
        """Asks the stateless bots of a match."""
        self._send("tasks.bots.ask", match_id)

    def attendance(self) -> None:
        """Has stateless bots wait wherever they may be matched."""
        self._send("tasks.bots.attend")

    def pairing(self, game: str, contest: str) -> None:
        """Pairs the bots that wait in a contest."""
        self._send("tasks.contests.pair", game, contest)

    def rating(self, game: str) -> None:
        """Counts the game's latest matches in its ratings."""
        self._send("tasks.ratings.rate", game)

    def ratings_anew(self, game: str) -> None:
        """Computes the ratings of a game from all of its matches."""
        self._send("tasks.ratings.rebuild", game)


def sending(celery: Celery) -> Send:
    """Sends over this application's broker before it returns."""

    def send(task: str, *arguments: str) -> None:
        try:
            celery.send_task(task, args=arguments)
        except Exception as error:
            log.warning("task.not_enqueued", task=task, error=type(error).__name__)

    return send


def sending_in_background(celery: Celery) -> Send:
    """Like `sending`, but returns at once: a broker that hangs must not hold up bots that wait for the same commit."""
    send = sending(celery)
    return lambda task, *arguments: in_background(send, task, *arguments)
