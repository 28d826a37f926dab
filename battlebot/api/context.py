"""What the API and the pages need from the other packages; `app.py` passes it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from flask import current_app

from battlebot.api.ports import Bus, Directory, LiveMatches, Lookout, Organiser, Presence, StatelessBots
from battlebot.config import Settings
from battlebot.rules.contract import Game
from battlebot.storage import Storage

CONTEXT_KEY = "battlebot"


@dataclass(frozen=True)
class Context:
    """Everything a request may use.

    `health()` returns part -> "ok", or a sentence that says what is wrong. `away()` returns part -> since when (epoch)
    it is known not to be well, without asking any part.
    """

    settings: Settings
    registry: Mapping[str, Game]
    storage: Storage
    directory: Directory
    stateless: StatelessBots
    live: LiveMatches
    presence: Presence
    bus: Bus
    organiser: Organiser
    lookout: Lookout
    health: Callable[[], dict[str, str]]
    away: Callable[[], dict[str, float]]


def current_context() -> Context:
    """Returns the context of the app that answers this request."""
    return cast(Context, current_app.extensions[CONTEXT_KEY])


def check_game(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """A blueprint's `url_value_preprocessor`: raises UnknownGame if the path names a game that we do not have."""
    if values and "game" in values:
        current_context().registry[values["game"]]
