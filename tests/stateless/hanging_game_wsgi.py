"""wsgi.py for a worker whose game never returns in a match of `a`, and which is soon found to hang."""

from __future__ import annotations

from typing import Any

import tasks.bots
from games import battlecube

tasks.bots.HANGS_S = 3.0

_reducer = battlecube.reducer


def spin(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
    """Returns only when the game is tried at the start."""
    while "a" in state["players"]:
        pass
    return _reducer(state, turn)


battlecube.reducer = spin


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
