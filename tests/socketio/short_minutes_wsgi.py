"""wsgi.py for a web node whose limits per minute are counted anew every three seconds."""

from __future__ import annotations

from typing import Any

import wsgi
from battlebot.redisio import ratelimit

ratelimit.WINDOW_S = 3


def __getattr__(name: str) -> Any:
    return getattr(wsgi, name)
