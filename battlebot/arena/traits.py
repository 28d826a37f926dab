"""What the maker of a match must know of waiting players on any node: it is encoded in their places."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from battlebot.referee.match import Series

MARK = "~"
FORM = re.compile(r"(s?)(\d?)([fl]?)(p?)")


@dataclass(frozen=True, slots=True)
class Traits:
    """`stays`: its session outlasts a match. `boards`: how many it wants to play with one opponent; 0: no preference.

    A player with `boards` is found in its live match by name alone. `first`: whether it is to have the first move
    (None: at random). `passwordless`: nobody has registered its name.
    """

    stays: bool = False
    boards: int = 0
    first: bool | None = None
    passwordless: bool = False

    @property
    def suffix(self) -> str:
        """The traits as the end of a place encodes them; empty for an ordinary bot."""
        first = {None: "", True: "f", False: "l"}[self.first]
        text = ("s" if self.stays else "") + (str(self.boards) if self.boards else "") + first
        text += "p" if self.passwordless else ""
        return MARK + text if text else ""


NO_TRAITS = Traits()


def traits_of(place: str) -> Traits:
    """Returns the traits of the player that waits at a place."""
    found = FORM.fullmatch(place.partition(MARK)[2])
    if found is None:
        return Traits()
    stays, boards, first, passwordless = found.groups()
    return Traits(bool(stays), int(boards or 0), {"": None, "f": True, "l": False}[first], bool(passwordless))


def series_of(seats: Sequence[tuple[str, str]], next_number: Callable[[], int]) -> Series | None:
    """Returns the series that a match of these `(bot, place)` begins; None if none of them names a number of boards."""
    traits = {bot: traits_of(place) for bot, place in seats}
    boards = max(one.boards for one in traits.values())
    if not boards:
        return None
    return Series(
        id=secrets.token_hex(8),
        board=1,
        boards=boards,
        number=next_number(),
        staying=tuple(bot for bot, one in traits.items() if one.stays),
        by_name=tuple(bot for bot, one in traits.items() if one.boards),
        passwordless=tuple(bot for bot, one in traits.items() if one.passwordless),
    )


def in_order(seats: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the seats, the first mover first: in random order, unless exactly one player has a preference."""
    shuffled = list(seats)
    secrets.SystemRandom().shuffle(shuffled)
    wishes = [(seat, traits_of(seat[1]).first) for seat in shuffled]
    wishes = [(seat, first) for seat, first in wishes if first is not None]
    if len(wishes) == 1:
        seat, first = wishes[0]
        shuffled.remove(seat)
        shuffled.insert(0 if first else len(shuffled), seat)
    return shuffled
