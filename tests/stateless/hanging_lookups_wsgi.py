"""wsgi.py for a web node in which many lookups hang, as those of names whose servers do not answer do."""

from __future__ import annotations

from typing import Any

import gevent
from gevent import monkey

import wsgi

MANY = 20  # more than a node tests at a time
HANGS_S = 60.0


def __getattr__(name: str) -> Any:
    found = getattr(wsgi, name)
    if name == "application":
        for _ in range(MANY):
            gevent.get_hub().threadpool.spawn(monkey.get_original("time", "sleep"), HANGS_S)
    return found
