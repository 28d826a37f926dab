"""What the doors need of parts of the house that they may not import, handed in by the one who wires it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from battlebot.arena.player import Player


class WaitingRoom(Protocol):
    """Where players wait for a match."""

    def admit(self, player: Player, address: str) -> None:
        """Checks that the bot, which comes from that address, may wait where it wants to.

        Raises ContestClosed, TooMany for contests that it would open, Unavailable.
        """

    def enter(self, player: Player, may_take: bool = True) -> None:
        """The player begins to wait: it gets an empty seat of its own back, a match, or waits. Raises Unavailable.

        Without `may_take` it waits to be taken by others, until `look_again`.
        """

    def look_again(self, player: Player) -> None:
        """A player that still waits takes an opponent along, if there is one. Raises Unavailable."""

    def leave(self, player: Player) -> None:
        """The player does not wait any more. Never raises: what Redis does not answer is tried again later."""


class Match(Protocol):
    """A match, of which a door for viewers needs no more than this."""

    @property
    def id(self) -> str:
        """Its name."""


class Battles(Protocol):
    """Where battles are begun and followed."""

    def begin(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Match:
        """Begins a match of these (name, address), in this order. Answers it at its beginning.

        Raises UnknownGame, BadMessage with a sentence for options and players that do not go together, BadAddress with
        the `player` in its details, Unavailable.
        """

    def find(self, match_id: str) -> Match:
        """A match that is being played, or was a moment ago. Raises UnknownMatch, Unavailable."""

    def follow(self, match: Any, is_wanted: Callable[[], bool]) -> Iterator[tuple[dict[str, Any], int]]:
        """Every state of a match from its beginning, as a viewer may see it, and its version; ends with the match.

        One with a pause comes twice, if it is the same after the pause. Waits for what has not happened yet, and for
        Redis, as long as it is wanted. Raises UnknownMatch if the match is lost.
        """

    def reconfigure(self, match_id: str, options: Mapping[str, Any]) -> bool:
        """Changes the options of a match that goes on; False where they cannot be.

        Raises UnknownMatch, Unavailable, BadMessage for an option that the game does not have, or of another kind.
        """
