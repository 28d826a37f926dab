"""How worker and beat connect to Redis anew: soon, and with one log line for each attempt."""

from __future__ import annotations

from typing import Any

import structlog

log = structlog.get_logger()

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 2.0  # Celery's own grows to half a minute, in which nobody would look after the matches


def ensure_connection(connection: Any, part: str, callback: Any = None) -> Any:
    """Tries for ever to connect, with short pauses and a log line for each; returns the connection."""

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
