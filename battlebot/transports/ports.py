"""What the doors need of parts that they may not import; `app.py` passes them in.

Signatures only: what a method does, returns and raises is said once, at the class that each port names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from battlebot.arena.node.player import Player


class WaitingRoom(Protocol):
    """Where players wait for a match: `matchmaking.lobby.Lobby`."""

    def admit(self, player: Player, address: str) -> bool: ...

    def enter(self, player: Player, may_take: bool = True) -> None: ...

    def look_again(self, player: Player) -> None: ...

    def leave(self, player: Player) -> None: ...


class Match(Protocol):
    """A match, as far as a door for viewers needs it: `referee.match.Match`."""

    @property
    def id(self) -> str: ...


class Battles(Protocol):
    """Begins, changes and follows battles: `stateless.battles.Battles`."""

    def begin(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Match: ...

    def find(self, game_name: str, match_id: str) -> Match: ...

    def follow(self, match: Any, is_wanted: Callable[[], bool]) -> Iterator[tuple[dict[str, Any], int]]: ...

    def reconfigure(self, match_id: str, options: Mapping[str, Any]) -> bool: ...
