"""wsgi.py with a game whose turns can be fatal: numberwang, with what to do in the turn's `fatal`."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from gevent import monkey

from games import numberwang

FOR_EVER_S = 3600.0

_block = monkey.get_original("time", "sleep")
_reducer = numberwang.reducer


FATAL: dict[str, Callable[[], Any]] = {
    "block": lambda: _block(FOR_EVER_S),
    "exit": lambda: os._exit(1),
    "crash": lambda: ctypes.string_at(0),
}


def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
    """Does what the turn asks for, then what the game does."""
    FATAL.get(turn.get("fatal", ""), lambda: None)()
    return _reducer(state, turn)


numberwang.reducer = reducer


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
