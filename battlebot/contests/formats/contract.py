"""What a contest format must define. docs/formats.md explains how; the values it receives are in `situation`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.contests.formats.seating import seated
from battlebot.contests.formats.situation import Due, Met, Situation
from battlebot.contests.standings import Pairs, Row, ranking

CONSTANTS = ("NAME", "CLOSED", "TOGETHER")


class Format(ABC):
    """Decides who meets now, from who waits and who has met, and who leads. All methods are pure.

    A format must define the first three constants and the abstract methods; everything else has a default.
    """

    NAME: ClassVar[str]
    CLOSED: ClassVar[bool]  # whether it needs a list of entrants
    TOGETHER: ClassVar[bool]  # whether a match is between all entrants, rather than two of them
    NAMES_WINNER: ClassVar[bool] = False  # whether the contest has a winner, see `winner`
    # whether `planned` needs no meetings but those of withdrawn bots, and the meetings decide on no bye and no winner
    PLANS_AHEAD: ClassVar[bool] = False

    @abstractmethod
    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """Returns the settings with defaults filled in. Raises Refused with the `field` that is not acceptable.

        Defaults may depend on the entrants: call again with the same `given` whenever they change before the start.
        """

    def most_meetings(self, given: Mapping[str, Any], meetings: int) -> int:
        """The highest number a meeting can have: counted per pair, or over all meetings if TOGETHER.

        `checked_config` has accepted `given` and `meetings`. Unless TOGETHER, the result is at most `meetings`.
        """
        return meetings

    @abstractmethod
    def due(self, situation: Situation) -> list[Due]:
        """All meetings that may be played now and are neither open nor over, in order of preference."""

    def pair(self, situation: Situation, waiting: Sequence[Waiter]) -> list[Pairing]:
        """Who meets now. `waiting`: longest wait first. Uses each waiter at most once; no bot meets itself.

        Begins no meeting whose bots rest: see `Situation.rests`. By default, the meetings of `due` whose bots all wait,
        in that order.
        """
        return seated([one for one in self.due(situation) if not situation.rests(one.bots)], waiting)

    def complete(self, situation: Situation) -> bool:
        """Whether nothing is open and nothing will ever be due again, unless a meeting becomes void.

        By default, whether nothing is open or due.
        """
        return all(met.state != "open" for met in situation.met) and not self.due(situation)

    @abstractmethod
    def planned(self, situation: Situation) -> int | None:
        """How many meetings the whole contest has, None if unknown. Once complete, the number of meetings so far."""

    def may_meet(self, situation: Situation) -> Callable[[str, str], bool]:
        """Returns a predicate: whether two bots that are below their cap of meetings may meet again, now or later."""
        return lambda a, b: True

    def has_more(self, situation: Situation, bot: str) -> bool | None:
        """Whether a bot for which nothing is due, and which has not met everybody, will have something due later.

        None, the default: unknown; then `contests.why` plays the contest on until it sees.
        """
        return None

    def byes(self, situation: Situation) -> dict[str, int]:
        """Bot -> how many byes it has had, each of which scores like a win. Bots without byes may be left out."""
        return {}

    def winner(self, situation: Situation) -> str | None:
        """The winner as decided by the meetings. None: not decided yet, or the ranking decides.

        With None, a bot that ends alone at the top of the ranking is the winner. Used only if NAMES_WINNER.
        """
        return None

    def built_upon(self, situation: Situation, met: Met) -> bool:
        """Whether the contest has already built on the result of this meeting, so that it cannot be taken back.

        `situation.met` has only the meetings of its bots.
        """
        return False

    def settled(self, situation: Situation) -> int:
        """The last round up to which all is over, except for withdrawn bots; 0 if the format always needs all meetings.

        From then on `due`, `pair`, `complete` and `settled` receive only open meetings and those of later rounds.
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
        """The rows of all entrants and of all bots in `rows`, best first: by points and tie-breaks, see `standings`."""
        return ranking(entrants, rows, pairs, points, byes)


def formats_of(modules: Iterable[ModuleType]) -> dict[str, Format]:
    """Name -> format, for the formats that these modules define; a module may define none.

    Raises TypeError for an incomplete format, with what it lacks, and for two formats with the same name.
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
