"""What a contest format is. How to write one: docs/formats.md; the values that it is told are in `situation`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.contests.formats.seating import seated
from battlebot.contests.formats.situation import Due, Met, Situation
from battlebot.contests.standings import Pairs, Row, ranking

CONSTANTS = ("NAME", "TITLE", "CLOSED", "TOGETHER")


class Format(ABC):
    """From who waits and who has met to who meets now, and who leads. Everything here is pure.

    Each format has the first four constants and what is abstract; the rest is as most of them want it.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    CLOSED: ClassVar[bool]  # whether it needs a list of entrants
    TOGETHER: ClassVar[bool]  # whether all entrants meet in one match, rather than two
    NAMES_WINNER: ClassVar[bool] = False  # whether somebody wins the contest; who, says `winner`

    @abstractmethod
    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """The format's settings with its defaults filled in. Raises Refused with the `field` that is not acceptable.

        Defaults may depend on the entrants: ask again with what was given whenever these change before the start.
        """

    def most_meetings(self, given: Mapping[str, Any], meetings: int) -> int:
        """The highest number that a meeting can have: of a pair's, or, where all meet together, of all.

        `given` and `meetings` as for `checked_config`, which has accepted them. Of a pair's, it is `meetings` at most.
        """
        return meetings

    @abstractmethod
    def due(self, situation: Situation) -> list[Due]:
        """All meetings that may be played now and are neither open nor over; those to be preferred first."""

    def pair(self, situation: Situation, waiting: Sequence[Waiter]) -> list[Pairing]:
        """Who of those waiting, longest waiting first, meets now. Each waiter once, no bot against itself.

        Unless said otherwise, whoever is due to meet, in the order of `due`.
        """
        return seated(self.due(situation), waiting)

    def complete(self, situation: Situation) -> bool:
        """Whether nothing is open and nothing will ever be due again, unless a meeting becomes void.

        Unless said otherwise, whether nothing is open or due.
        """
        return all(met.state != "open" for met in situation.met) and not self.due(situation)

    @abstractmethod
    def planned(self, situation: Situation) -> int | None:
        """How many meetings the whole contest has, where that is known. Equals those so far once it is complete."""

    def may_meet(self, situation: Situation) -> Callable[[str, str], bool]:
        """Of any two bots, whether they may meet once more, now or later, if they have not met often enough."""
        return lambda a, b: True

    def byes(self, situation: Situation) -> dict[str, int]:
        """Bot -> how many byes it has had, each of which scores as a win does; those without any need not be in it."""
        return {}

    def winner(self, situation: Situation) -> str | None:
        """Who has won, where the meetings say so and somebody has; else who ends alone at the top of the ranking has.

        Nobody asks unless the format has NAMES_WINNER.
        """
        return None

    def built_upon(self, situation: Situation, met: Met) -> bool:
        """Whether so much has been built upon the result of that meeting that it cannot be taken back any more.

        Of the meetings, `situation` has those of its bots only.
        """
        return False

    def settled(self, situation: Situation) -> int:
        """Up to which round all is over but for bots that withdrew; 0 for a format that must be told all meetings.

        From then on `due`, `pair`, `complete` and this are told what is open and what is of later rounds.
        """
        return 0

    def ranking(
        self,
        entrants: Iterable[str],
        rows: Iterable[Mapping[str, Any]],
        pairs: Pairs,
        points: tuple[int, int, int],
        byes: Mapping[str, int],
    ) -> list[Row]:
        """The rows of all entrants and of whoever has one, best first: by points and tie-breaks, see `standings`."""
        return ranking(entrants, rows, pairs, points, byes)


def formats_of(modules: Iterable[ModuleType]) -> dict[str, Format]:
    """Name -> format, of the classes that these modules define. Others than formats define none.

    Raises TypeError, with what it lacks, for one that is not whole, and for a name that two have.
    """
    found: dict[str, Format] = {}
    for module in modules:
        for kind in _defined_in(module):
            form = _made(kind)
            if form.NAME in found:
                other = type(found[form.NAME]).__module__
                raise TypeError(f"Two contest formats are called {form.NAME!r}: {other} and {module.__name__}.")
            found[form.NAME] = form
    return found


def _defined_in(module: ModuleType) -> list[type[Format]]:
    classes = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    return [kind for kind in classes if issubclass(kind, Format) and kind is not Format]


def _made(kind: type[Format]) -> Format:
    lacks = [name for name in CONSTANTS if not hasattr(kind, name)] + sorted(kind.__abstractmethods__)
    if lacks:
        raise TypeError(f"The contest format {kind.__module__}.{kind.__name__} lacks {', '.join(lacks)}.")
    return kind()
