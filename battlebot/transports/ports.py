"""What the doors need of parts that they may not import; `app.py` passes them in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from battlebot.arena.node.player import Player
from battlebot.wire.closing import Closing
from battlebot.wire.login import Login


class WaitingRoom(Protocol):
    """Where players wait for a match."""

    def admit(self, login: Login, address: str) -> str | None:
        """Checks that the bot, connected from `address`, may wait where it wants to.

        Returns how that is over, if it is a contest that is: `for-now` or `for-good`.
        Raises UnknownGame if its game has been removed, ContestClosed, TooMany if it would open one contest too many,
        Unavailable.
        """

    def enter(self, player: Player, may_take: bool = True) -> None:
        """Gives the player an empty seat of its own back or a match, or has it wait.

        Raises Unavailable; then the player waits until `leave`, and is given what there is for it when Redis is back.
        Without `may_take` it waits to be taken along by others, until `look_again`.
        """

    def look_again(self, player: Player) -> None:
        """Lets a player that still waits take an opponent along, if there is one. Raises Unavailable."""

    def dismiss(self, player: Player, reason: Closing) -> None:
        """Closes a player that waits; not one whose match is on its way, or that is coming. Raises Unavailable."""

    def leave(self, player: Player) -> None:
        """Takes out a player that waits no more. Never raises: if Redis does not answer, it is tried again later."""


class Match(Protocol):
    """A match, as far as a door for viewers needs it."""

    @property
    def id(self) -> str:
        """The match's id."""


class Battles(Protocol):
    """Begins, changes and follows battles."""

    def check(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> None:
        """Raises what `begin` would if it refuses the match; begins nothing."""

    def begin(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Match:
        """Begins a match of these (name, address) players, in this order; returns it as it began.

        Raises UnknownGame, BadMessage with a sentence if options and players do not fit, BadAddress with the `player`
        in its details, Unavailable.
        """

    def find(self, game_name: str, match_id: str) -> Match:
        """Returns a match of this game that is live or has just ended. Raises UnknownMatch, Unavailable."""

    def follow(self, match: Any, is_wanted: Callable[[], bool]) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields each state of a match from its beginning, as viewers may see it, and its version; ends with the match.

        A state that is followed by a pause is yielded again after it, unless it has changed. Waits for further states,
        and for Redis, while `is_wanted()`. Raises UnknownMatch if the match is lost.
        """

    def reconfigure(self, match_id: str, options: Mapping[str, Any]) -> bool:
        """Changes the options of a running match; returns False if they cannot be changed.

        Raises UnknownMatch, Unavailable, BadMessage for an option that the game does not have or that has a wrong type.
        """
