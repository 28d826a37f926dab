"""The meetings of a contest by pairs and by rounds: who met how often, and who moved first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from battlebot.contests.formats.record import pair_of
from battlebot.contests.formats.situation import Due, Situation
from battlebot.runtime.cooperative import cooperatively


def by_pairs(
    situation: Situation,
    rows: Iterable[Mapping[str, Any]],
    due: Iterable[Due],
    may_meet: Callable[[str, str], bool],
    of: str | None = None,
) -> list[dict[str, Any]]:
    """`[{"bots", "played", "absent", "open", "due", "left", "meetings"}]` of all pairs, or of those of the bot `of`.

    `rows`: stored meetings, oldest first. `left`: how often the pair may still meet; 0 if `may_meet` is False for it or
    one of the two has withdrawn. `due`: whether the pair is due to meet now.
    """
    met: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in cooperatively(rows):
        met[pair_of(*row["bots"])].append(described(row))
    wanted = {pair_of(one.first, one.second) for one in cooperatively(due)}
    known = dict.fromkeys([*situation.entrants, *(bot for pair in sorted(met) for bot in pair)])
    pairs = combinations(known, 2) if of is None else ((of, bot) for bot in known if bot != of)
    return [
        _pair(two, met[pair_of(*two)], pair_of(*two) in wanted, situation, may_meet) for two in cooperatively(pairs)
    ]


def by_rounds(rows: Iterable[Mapping[str, Any]], due: Iterable[Due]) -> list[dict[str, Any]]:
    """`[{"round", "over", "meetings"}]`, in order; due meetings have state `due`. Empty in formats without rounds."""
    rounds: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in cooperatively(rows):
        rounds[row.get("round", 0)].append({"bots": list(row["bots"]), **described(row)})
    for one in cooperatively(due):
        meeting = {"match": None, "n": one.n, "round": one.round, "first": one.first, "state": "due", "victor": None}
        rounds[one.round].append({"bots": list(one.bots), **meeting})
    return [
        {
            "round": number,
            "over": all(meeting["state"] in ("played", "absent") for meeting in rounds[number]),
            "meetings": rounds[number],
        }
        for number in cooperatively(sorted(rounds))
        if number
    ]


def described(row: Mapping[str, Any]) -> dict[str, Any]:
    """The public fields of a stored meeting. A missed one has no match."""
    return {
        "match": None if row["state"] == "absent" else row["_id"],
        "n": row["n"],
        "round": row.get("round", 0),
        "first": row["bots"][0],
        "state": row["state"],
        "victor": row.get("victor"),
    }


def _pair(
    two: Sequence[str],
    met: list[dict[str, Any]],
    due: bool,
    situation: Situation,
    may_meet: Callable[[str, str], bool],
) -> dict[str, Any]:
    states = [one["state"] for one in met]
    gone = not situation.withdrawn.isdisjoint(two) or not may_meet(*two)
    return {
        "bots": list(two),
        "played": states.count("played"),
        "absent": states.count("absent"),
        "open": states.count("open"),
        "due": due,
        "left": 0 if gone else max(0, situation.meetings - len(met)),
        "meetings": sorted(met, key=lambda one: one["n"]),
    }
