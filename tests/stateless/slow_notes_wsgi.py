"""wsgi.py for a worker that takes very long to write how bots do, as with many urls where Redis or it is slow."""

from __future__ import annotations

import time
from typing import Any

from battlebot.stateless.health import Health

VERY_LONG_S = 3600.0


def flush(self: Health) -> list[str]:
    """Lets all others of the worker go on meanwhile."""
    time.sleep(VERY_LONG_S)
    return []


setattr(Health, "flush", flush)  # noqa: B010  mypy refuses the plain form


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
