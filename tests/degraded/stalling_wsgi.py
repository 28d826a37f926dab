"""wsgi.py for a web node whose event loop blocks for two seconds again and again."""

from __future__ import annotations

from typing import Any

import gevent
from gevent import monkey

import wsgi

RUNS_S, STANDS_S = 1.0, 2.0

_block = monkey.get_original("time", "sleep")


def _stall() -> None:
    while True:
        gevent.sleep(RUNS_S)
        _block(STANDS_S)


def __getattr__(name: str) -> Any:
    value = getattr(wsgi, name)
    if name == "application":
        gevent.spawn(_stall)
    return value
