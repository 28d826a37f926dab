"""Celery's beat, made to outlast an absent Redis and a full disk. It loads nothing that only a worker needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog
from celery.beat import Scheduler, SchedulingError

from tasks.reconnecting import ensure_connection

log = structlog.get_logger()


class PatientScheduler(Scheduler):
    """Logs one line for a tick that could not be sent, and does not wait to send it again.

    What it has sent it keeps in memory only: all ticks come again soon. So a full disk does not stop it.
    """

    def __init__(self, *arguments: Any, schedule_filename: str, **named: Any) -> None:
        self._sign = Path(schedule_filename)
        super().__init__(*arguments, **named)

    def sync(self) -> None:
        """Touches its file, as a sign of life for docker/healthcheck.py: at first, then every three minutes."""
        try:
            self._sign.touch()
        except OSError as error:
            log.warning("beat.no_sign_of_life", file=str(self._sign), error=error.strerror)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Sends a due tick; if it cannot be sent it is left out, as the next comes soon."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            cause = error.__context__ or error
            log.warning("beat.tick_missed", tick=entry.name, error=type(cause).__name__)

    def _ensure_connected(self) -> Any:
        return ensure_connection(self.connection, "beat")
