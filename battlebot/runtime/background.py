"""Work in threads of its own, whose failures are logged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import structlog

log = structlog.get_logger()


def in_background(call: Callable[..., None], *arguments: Any) -> None:
    """Calls in a thread of its own, so that waiting for Redis does not hold up the clocks of other matches."""
    threading.Thread(target=logging_failure, args=(call, *arguments), daemon=True).start()


def logging_failure(call: Callable[..., None], *arguments: Any) -> None:
    """Calls, and logs an exception instead of raising it."""
    try:
        call(*arguments)
    except Exception:
        log.exception("background.failed")
