"""Champion: a number of battles, each of all entrants (Battle-cubed). Ranked by most wins, then most ticks lived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Situation
from battlebot.contests.standings import Pairs, Row, ranking_by
from battlebot.errors import Refused

BATTLES = 100
MOST_BATTLES = 1000


class Champion(Format):
    """Whoever wins the most battles wins. A battle begins when all its bots wait, independently of the others."""

    NAME = "champion"
    CLOSED = True
    TOGETHER = True
    NAMES_WINNER = True
    PLANS_AHEAD = True

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """`battles`: how many, 100 by default. `meetings` is ignored. Raises Refused."""
        check_fields(given, ("battles",), entrants)
        battles = given.get("battles", BATTLES)
        if type(battles) is not int or not 1 <= battles <= MOST_BATTLES:
            raise Refused(f"battles must be a whole number from 1 to {MOST_BATTLES}.", field="battles")
        return {"battles": battles}

    def most_meetings(self, given: Mapping[str, Any], meetings: int) -> int:
        """The number of battles."""
        return int(self.checked_config(given, (), meetings)["battles"])

    def due(self, situation: Situation) -> list[Due]:
        """All battles not yet begun, each of all entrants that are neither withdrawn nor gone; none for fewer than two.

        Battles do not wait for one another: a bot waiting on several connections plays several at once. The seats,
        which decide whose tasks are done first, rotate by one from battle to battle.
        """
        bots = [bot for bot in situation.entrants if bot not in situation.withdrawn | situation.gone]
        if len(bots) < 2:
            return []
        begun = {met.n for met in situation.met}
        left = [n for n in range(1, situation.config["battles"] + 1) if n not in begun]
        return [_battle(n, bots) for n in left]

    def complete(self, situation: Situation) -> bool:
        """Whether every battle is over, or fewer than two bots stayed and nothing is open."""
        # bots that are gone may come back
        return super().complete(replace(situation, gone=frozenset()))

    def planned(self, situation: Situation) -> int | None:
        """All battles; if fewer than two bots stayed, those so far."""
        staying = [bot for bot in situation.entrants if bot not in situation.withdrawn]
        return int(situation.config["battles"]) if len(staying) > 1 else len(situation.met)

    def ranking(
        self,
        entrants: Iterable[str],
        rows: Iterable[Mapping[str, Any]],
        pairs: Pairs,
        points: tuple[int, int, int],
        byes: Mapping[str, int],
    ) -> list[Row]:
        """By most wins, then most ticks lived; `pairs`, `points` and `byes` are ignored."""
        return ranking_by(_merit, entrants, rows)


def _merit(row: Row) -> tuple[int, int]:
    return row["wins"], row["scored"]


def _battle(n: int, bots: Sequence[str]) -> Due:
    at = (n - 1) % len(bots)
    first, second, *others = [*bots[at:], *bots[:at]]
    return Due(n, n, first, second, tuple(others))
