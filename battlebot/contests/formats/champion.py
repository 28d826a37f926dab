"""Champion: a batch of battles of all entrants together (seed 003); most wins, then most ticks lived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.contests.formats.seating import check_fields, seated
from battlebot.contests.formats.situation import Due, Situation
from battlebot.errors import Refused

NAME = "champion"
TITLE = "Champion: so many battles of all on the list together"
CLOSED = True
TOGETHER = True

BATTLES = 100
MOST_BATTLES = 1000


def checked_config(given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
    """`battles`: how many, by default 100. `meetings` says nothing here. Raises Refused."""
    check_fields(given, ("battles",), entrants)
    battles = given.get("battles", BATTLES)
    if type(battles) is not int or not 1 <= battles <= MOST_BATTLES:
        raise Refused(f"battles must be a whole number from 1 to {MOST_BATTLES}.", field="battles")
    return {"battles": battles}


def due(situation: Situation) -> list[Due]:
    """All battles that have not begun, of all that stayed and are not gone; none of fewer than two.

    They need not wait for one another: who waits on several connections plays several at once. Whose tasks are done
    first goes round by one seat from battle to battle.
    """
    bots = [bot for bot in situation.entrants if bot not in situation.withdrawn | situation.gone]
    if len(bots) < 2:
        return []
    begun = {met.n for met in situation.met}
    left = [n for n in range(1, situation.config["battles"] + 1) if n not in begun]
    return [_battle(n, bots) for n in left]


def pair(situation: Situation, waiting: Sequence[Waiter]) -> list[Pairing]:
    """As many battles as all of them wait for."""
    return seated(due(situation), waiting)


def complete(situation: Situation) -> bool:
    """Whether every battle is over, or fewer than two stayed and nothing is open."""
    # who is gone may come back
    return not due(replace(situation, gone=frozenset())) and all(met.state != "open" for met in situation.met)


def planned(situation: Situation) -> int | None:
    """All battles; where fewer than two stayed, those that there were."""
    staying = [bot for bot in situation.entrants if bot not in situation.withdrawn]
    return int(situation.config["battles"]) if len(staying) > 1 else len(situation.met)


def merit(row: Mapping[str, Any]) -> tuple[int, int]:
    """Most wins, then most ticks lived."""
    return row["wins"], row["scored"]


def _battle(n: int, bots: Sequence[str]) -> Due:
    at = (n - 1) % len(bots)
    first, second, *others = [*bots[at:], *bots[:at]]
    return Due(n, n, first, second, tuple(others))
