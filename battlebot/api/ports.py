"""What the API and the pages need of parts that they may not import; `app.py` passes them in.

Signatures only: what a method does, returns and raises is said once, at the class that each port names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from battlebot.contests.contest import Contest


class Directory(Protocol):
    """Registers bots and checks their credentials: `arena.names.directory.Directory`."""

    def register(self, game: str, bot_id: str, owner: str) -> str: ...

    def check_owner(self, game: str, bot_id: str, pass_hash: str) -> None: ...


class StatelessBots(Protocol):
    """Registered stateless bots: `stateless.registering.StatelessBots`."""

    def register(self, game: str, bot_id: str, owner: str, url: str, available: bool) -> str: ...

    def change(self, game: str, bot_id: str, changes: Mapping[str, Any]) -> dict[str, Any]: ...

    def show(self, game: str, bot_id: str) -> dict[str, Any]: ...

    def test(self, game: str, bot_id: str) -> dict[str, Any]: ...


class LiveMatches(Protocol):
    """What anybody may see of live matches: `arena.live.viewing.LiveMatches`."""

    def list(self, game: str | None = None, contest: str | None = None) -> list[dict[str, Any]]: ...

    def find(self, match_id: str) -> dict[str, Any] | None: ...


class Presence(Protocol):
    """Who is connected at the TCP door: `arena.names.presence.Presence`."""

    def online(self, node_timeout_s: float) -> Mapping[str, Any]: ...


class Listener(Protocol):
    """One listener's view of a channel: `redisio.bus.Listener`."""

    def get(self, timeout_s: float) -> bytes | None: ...


class Bus(Protocol):
    """Announces what has just happened: `redisio.bus.Bus`."""

    def listen(self, channel: str) -> AbstractContextManager[Listener]: ...


class Organiser(Protocol):
    """An organiser's actions on contests: `contests.service.organiser.Organiser`."""

    def create(self, game: str, given: Mapping[str, Any], by: str) -> Contest: ...

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> Contest: ...

    def transition(self, action: str, game: str, name: str, by: str) -> Contest: ...

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> Contest: ...

    def withdraw(self, game: str, name: str, bot: str, by: str) -> Contest: ...

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> None: ...


class Lookout(Protocol):
    """What can be seen of a contest: `contests.service.lookout.Lookout`."""

    def ranking(self, contest: Contest) -> list[dict[str, Any]]: ...

    def progress(self, contest: Contest, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]: ...

    def meetings(self, contest: Contest, bot: str | None = None) -> dict[str, Any]: ...

    def rounds(self, contest: Contest) -> list[dict[str, Any]]: ...

    def why(self, contest: Contest, bot: str) -> dict[str, Any]: ...
