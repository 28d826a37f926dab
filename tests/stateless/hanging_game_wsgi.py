"""wsgi.py for a worker whose game never returns in a match of `a`, and which is soon found to hang."""

from __future__ import annotations

from typing import Any

from gevent import monkey

import tasks.desk
from games import battlecube

FOR_EVER_S = 3600.0

tasks.desk.HANGS_S = 3.0

_block = monkey.get_original("time", "sleep")
_reducer = battlecube.reducer


def hang(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
    """Returns only when the game is tried at the start."""
    if "a" in state["players"]:
        _block(FOR_EVER_S)
    return _reducer(state, turn)


battlecube.reducer = hang


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
