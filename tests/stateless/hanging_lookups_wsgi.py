"""wsgi.py for a web node in which many lookups hang, as those of names whose servers do not answer do."""

from __future__ import annotations

from typing import Any

import gevent
from gevent import monkey

import wsgi
from battlebot.stateless.registering import MOST_TESTS

HANGS_S = 60.0


def __getattr__(name: str) -> Any:
    found = getattr(wsgi, name)
    if name == "application":
        for _ in range(MOST_TESTS):
            gevent.get_hub().threadpool.spawn(monkey.get_original("time", "sleep"), HANGS_S)
    return found
