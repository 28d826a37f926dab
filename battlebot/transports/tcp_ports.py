"""What the TCP door needs of the rest of the house, handed in by the one who wires it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from battlebot.arena.player import Player
from battlebot.arena.presence import Claimed, Holder
from battlebot.wire.login import Login


class NameBook(Protocol):
    """Which names are registered, and the check of a login."""

    def registered(self, names: Collection[str]) -> bool:
        """Whether a registered bot has one of these names, or one that looks like it. Raises Unavailable."""

    def check(self, login: Login, salt: str) -> None:
        """Raises LoginFailed, Unavailable."""


class Names(Protocol):
    """Who holds which name."""

    def claim(self, holder: Holder) -> Claimed:
        """Raises Unavailable."""

    def confirm(self, holders: Sequence[Holder]) -> list[tuple[bool, str | None]]:
        """Raises Unavailable."""

    def give_up(self, holder: Holder) -> None:
        """Raises Unavailable."""


class WaitingRoom(Protocol):
    """Where players wait for an opponent."""

    def enter(self, player: Player, may_take: bool = True) -> None:
        """Raises Unavailable."""

    def look_again(self, player: Player) -> None:
        """Raises Unavailable."""

    def leave(self, player: Player) -> None:
        """Never raises."""


class Matches(Protocol):
    """Where players play."""

    node: str

    def turned(
        self,
        player: Player,
        turn: dict[str, object] | None,
        received_s: float,
        refusal: str | None = None,
        version: int | None = None,
    ) -> None:
        """Raises Unavailable."""

    def join(self, player: Player, match_id: str, live: bool = False) -> bool:
        """Raises Unavailable."""

    def look_after(self, match_id: str) -> None:
        """Raises Unavailable."""

    def left(self, player: Player, clean: bool, how: str) -> None:
        """Never raises."""

    def orphaned(self, player: Player, how: str) -> None:
        """Never raises."""


class Attendance(Protocol):
    """Where it is kept how long players have been online."""

    def __call__(self, name: str, since_ms: int, seconds: float) -> None:
        """The connection of that moment has lasted so long by now. Raises Unavailable."""
