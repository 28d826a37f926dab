"""What the maker of a match must know of waiting players on any node: it is encoded in their places."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from battlebot.referee.match import Series

MARK = "~"
FORM = re.compile(r"(s?)(\d?)(p?)")


@dataclass(frozen=True, slots=True)
class Traits:
    """`stays`: its session outlasts a match. `boards`: how many it wants to play with one opponent; 0: no preference.

    A player with `boards` is found in its live match by name alone. `passwordless`: nobody has registered its name.
    """

    stays: bool = False
    boards: int = 0
    passwordless: bool = False

    @property
    def suffix(self) -> str:
        """The traits as the end of a place encodes them; empty for an ordinary bot."""
        text = ("s" if self.stays else "") + (str(self.boards) if self.boards else "")
        text += "p" if self.passwordless else ""
        return MARK + text if text else ""


NO_TRAITS = Traits()


def traits_of(place: str) -> Traits:
    """Returns the traits of the player that waits at a place."""
    found = FORM.fullmatch(place.partition(MARK)[2])
    if found is None:
        return Traits()
    stays, boards, passwordless = found.groups()
    return Traits(bool(stays), int(boards or 0), bool(passwordless))


def series_of(seats: Sequence[tuple[str, str]], next_number: Callable[[], int]) -> Series | None:
    """Returns the series that a match of these `(bot, place)` begins; None if none of them names a number of boards.

    It is of one board if a bot's session does not outlast a match.
    """
    traits = {bot: traits_of(place) for bot, place in seats}
    boards = max(one.boards for one in traits.values())
    if not boards:
        return None
    return Series(
        id=secrets.token_hex(8),
        board=1,
        boards=boards if all(one.stays for one in traits.values()) else 1,
        number=next_number(),
        by_name=tuple(bot for bot, one in traits.items() if one.boards),
        passwordless=tuple(bot for bot, one in traits.items() if one.passwordless),
    )


def in_order(seats: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the seats, the first mover first: in random order."""
    return secrets.SystemRandom().sample(seats, len(seats))
