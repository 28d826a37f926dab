"""Gauntlet: one bot, the champion, meets each of the others `meetings` times; the others do not meet one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.record import Record
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Situation
from battlebot.errors import Refused
from battlebot.runtime.cooperative import cooperatively


class Gauntlet(Format):
    """Pairs of the champion and a challenger; no pair waits for another."""

    NAME = "gauntlet"
    CLOSED = True
    TOGETHER = False
    PLANS_AHEAD = True

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """`champion`: one of the entrants, the first by default (None while there is none). Raises Refused."""
        check_fields(given, ("champion",), entrants)
        champion = given.get("champion")
        if champion is None:
            champion = entrants[0] if entrants else None
        elif champion not in entrants:
            raise Refused(f"The champion {champion!r} is not among the entrants.", field="champion")
        return {"champion": champion}

    def due(self, situation: Situation) -> list[Due]:
        """The next meeting with each challenger that has none open; lowest `n` first, then in seeding order.

        `round` equals `n`: in each round the champion meets everyone once. First moves alternate within a pair and from
        one challenger to the next, so that every bot's first and second moves differ by at most one.
        """
        champion, challengers = _sides(situation)
        record = Record.of((met.first, met.second, met.n) for met in situation.met)
        busy = {bot for met in situation.met if met.state == "open" for bot in (met.first, met.second)}
        found = []
        for index, challenger in enumerate(cooperatively(challengers)):
            if challenger in situation.withdrawn or champion in situation.withdrawn or challenger in busy:
                continue
            n = record.next_number(champion, challenger)
            if n <= situation.meetings:
                two = (champion, challenger) if (index + n) % 2 else (challenger, champion)
                found.append(Due(n, n, *two))
        return sorted(found, key=lambda meeting: meeting.n)

    def planned(self, situation: Situation) -> int | None:
        """`meetings` per challenger, without those that withdrawn bots left unplayed."""
        champion, challengers = _sides(situation)
        if champion in situation.withdrawn:
            return len(situation.met)
        staying = sum(bot not in situation.withdrawn for bot in challengers)
        of_the_gone = sum(not situation.withdrawn.isdisjoint((met.first, met.second)) for met in situation.met)
        return situation.meetings * staying + of_the_gone

    def may_meet(self, situation: Situation) -> Callable[[str, str], bool]:
        """Whether one of the two is the champion."""
        champion, _ = _sides(situation)
        return lambda a, b: champion in (a, b)


def _sides(situation: Situation) -> tuple[str, list[str]]:
    champion = situation.config["champion"] or ""  # None while there are no entrants
    return champion, [bot for bot in situation.entrants if bot != champion]
