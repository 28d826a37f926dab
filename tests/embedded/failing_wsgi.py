"""wsgi.py for a web node in whose worker a greenlet and a thread fail as it starts."""

from __future__ import annotations

import threading
from typing import Any

import gevent

import wsgi


def _fail() -> None:
    raise ValueError("of this test")


def __getattr__(name: str) -> Any:
    made = getattr(wsgi, name)
    if name == "application":
        gevent.spawn(_fail)
        threading.Thread(target=_fail).start()
    return made
