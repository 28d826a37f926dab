"""What the API and the pages need from the rest of the house, handed in by the one who makes the app."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import redis
from flask import current_app

from battlebot.config import Settings
from battlebot.rules.contract import Game
from battlebot.storage import Storage

CONTEXT_KEY = "battlebot"


class Directory(Protocol):
    """Where bots are registered."""

    def register(self, game: str, bot_id: str, owner: str) -> str:
        """Registers a bot; answers its pass_hash, 64 hex digits. Raises NameTaken, Unavailable."""

    def check_owner(self, game: str, bot_id: str, pass_hash: str) -> None:
        """Raises LoginFailed unless it is the bot's, Unavailable."""


class StatelessBots(Protocol):
    """Registered stateless bots; see stateless/registering.py."""

    def register(self, game: str, bot_id: str, owner: str, url: str, available: bool) -> str:
        """Registers a bot that answers a test request; answers its pass_hash."""

    def change(self, game: str, bot_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Another `url`, or `available`."""

    def show(self, game: str, bot_id: str) -> dict[str, Any]:
        """The bot, and how its url is doing."""

    def test(self, game: str, bot_id: str) -> dict[str, Any]:
        """A test request's result."""


class LiveMatches(Protocol):
    """What can be seen of matches that are being played."""

    def list(self, game: str | None = None, contest: str | None = None) -> list[dict[str, Any]]:
        """`[{"id", "game", "contest", "players", "state" (a viewer's), "version", "startedAt" (ms)}]`, latest first."""

    def find(self, match_id: str) -> dict[str, Any] | None:
        """One of them, or None. Raises Unavailable."""


class Presence(Protocol):
    """Who is connected at the TCP door."""

    def online(self, node_timeout_s: float) -> Mapping[str, Any]:
        """name -> who holds it, of the nodes that gave a sign of life lately. Raises Unavailable."""


class Listener(Protocol):
    """One subscription to one channel."""

    def get(self, timeout_s: float) -> bytes | None:
        """The next message, or None after `timeout_s` seconds without one. Raises Unavailable."""


class Bus(Protocol):
    """Announcements of what has just happened."""

    def listen(self, channel: str) -> AbstractContextManager[Listener]:
        """Subscribes for as long as the context lasts. Raises Unavailable."""


class Organiser(Protocol):
    """What organisers may do to contests; `by` is who does it. What is raised: see contests/service/organiser.py."""

    def create(self, game: str, given: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Schedules a contest; answers its document."""

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Changes what may still change."""

    def transition(self, action: str, game: str, name: str, by: str) -> dict[str, Any]:
        """start, pause, resume, finish or cancel."""

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> dict[str, Any]:
        """Adds entrants."""

    def withdraw(self, game: str, name: str, bot: str, by: str) -> dict[str, Any]:
        """Takes an entrant out."""

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> None:
        """Takes a match back."""


class Lookout(Protocol):
    """What can be seen of a contest, given its document; see contests/service/lookout.py."""

    def ranking(self, contest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The ranking's rows, best first."""

    def progress(self, contest: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """How much has been played, is planned, and is being played."""

    def meetings(self, contest: Mapping[str, Any], bot: str | None = None) -> dict[str, Any]:
        """The meetings by pairs and by rounds."""

    def rounds(self, contest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rounds alone."""

    def why(self, contest: Mapping[str, Any], bot: str) -> dict[str, Any]:
        """Why the bot is not playing."""


@dataclass(frozen=True)
class Context:
    """Everything a request may use.

    `health()` says of each part "ok" or, in a sentence, what is wrong; `away()`, without asking anybody, since when
    (epoch) the parts have been away of which that is known.
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
    redis: redis.Redis
    away: Callable[[], dict[str, float]] = dict


def current_context() -> Context:
    """The context of the app that answers this request."""
    return cast(Context, current_app.extensions[CONTEXT_KEY])


def check_game(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """A blueprint's `url_value_preprocessor`: raises UnknownGame for a path that names a game we do not have."""
    if values and "game" in values:
        current_context().registry[values["game"]]
