"""How results move the standings and the table of pairs: the same moves for the archive, a void and a recount."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

from pymongo import UpdateOne

COUNTS = ("played", "wins", "draws", "losses", "absent")
OUTCOMES = ("wins", "draws", "losses")

Counts = dict[str, int]


def outcome(victor: str | None, bot: str, absent: bool = False) -> str:
    """`wins`, `draws` or `losses`: what a result is for one of its bots. Absent without a victor, both have lost."""
    if victor is None:
        return "losses" if absent else "draws"
    return "wins" if victor == bot else "losses"


def counted(results: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Counts]:
    """(game, contest, bot) -> counts, of results `{game, contest, players, victor, absent?}` in contests."""
    rows: dict[tuple[str, str, str], Counts] = {}
    for result in results:
        if result["contest"] is None:
            continue
        absent = bool(result.get("absent"))
        for bot in result["players"]:
            row = rows.setdefault((result["game"], result["contest"], bot), dict.fromkeys(COUNTS, 0))
            row["played"] += 1
            row[outcome(result["victor"], bot, absent)] += 1
            row["absent"] += absent and result["victor"] != bot
    return rows


def counted_by_pair(results: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str, str], Counts]:
    """(game, contest, bot, opponent) -> wins, draws and losses of the bot against the opponent."""
    rows: dict[tuple[str, str, str, str], Counts] = {}
    for result in results:
        if result["contest"] is None:
            continue
        for bot, opponent in permutations(result["players"], 2):
            key = (result["game"], result["contest"], bot, opponent)
            row = rows.setdefault(key, dict.fromkeys(OUTCOMES, 0))
            row[outcome(result["victor"], bot, bool(result.get("absent")))] += 1
    return rows


def standing_moves(results: Iterable[Mapping[str, Any]], sign: int = 1) -> list[UpdateOne]:
    """The writes that bring the results into `standings` (sign 1), or take them out (sign -1)."""
    return [
        UpdateOne(
            {"game": game, "contest": contest, "bot_id": bot},
            {"$inc": {name: sign * count for name, count in row.items()}},
            upsert=True,
        )
        for (game, contest, bot), row in counted(results).items()
    ]


def pair_moves(results: Iterable[Mapping[str, Any]], sign: int = 1) -> list[UpdateOne]:
    """The writes that bring the results into `pairs`, or take them out."""
    return [
        UpdateOne(
            {"game": game, "contest": contest, "bot_id": bot, "opponent": opponent},
            {"$inc": {name: sign * count for name, count in row.items()}},
            upsert=True,
        )
        for (game, contest, bot, opponent), row in counted_by_pair(results).items()
    ]
