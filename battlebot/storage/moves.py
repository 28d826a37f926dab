"""How results move the standings and the table of pairs: the same moves for the archive, a void and a recount."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.collection import Collection

COUNTS = ("played", "wins", "draws", "losses", "absent")
SCORED = "scored"  # the sum of a bot's scores, in games that have some
OUTCOMES = ("wins", "draws", "losses")
KEY = ("game", "contest", "bot_id", "opponent")  # of a row; one of the standings has no opponent

Table = Collection[dict[str, Any]]
Counts = dict[str, int]
ByBot = dict[tuple[str, str, str], Counts]
ByPair = dict[tuple[str, str, str, str], Counts]


def outcome(result: Mapping[str, Any], bot: str) -> str:
    """`wins`, `draws` or `losses`: what a result means for one of its bots.

    Of more than two bots the first wins; if several are first, they draw. If all were absent, all lose.
    """
    victor = result["victor"]
    if victor is not None:
        return "wins" if victor == bot else "losses"
    if result.get("absent"):
        return "losses"
    return "draws" if _places(result).get(bot, 1) == 1 else "losses"


def between(result: Mapping[str, Any], bot: str, opponent: str) -> str:
    """Like `outcome`, against one opponent: a bot wins against those that it finishes ahead of."""
    places = _places(result)
    if result.get("absent") or not places:
        return outcome(result, bot)
    own, other = places.get(bot, 1), places.get(opponent, 1)
    return "draws" if own == other else "wins" if own < other else "losses"


def counted(results: Iterable[Mapping[str, Any]], rows: ByBot | None = None) -> ByBot:
    """(game, contest, bot) -> counts, for the results that belong to contests; they are added to `rows`, if given.

    A result is `{game, contest, players, victor, absent?, match?: {places?, scores?}}`. A row has `scored` only if one
    of its matches had scores.
    """
    rows = {} if rows is None else rows
    for result in results:
        if result["contest"] is None:
            continue
        absent, scores = bool(result.get("absent")), _about(result).get("scores")
        for bot in result["players"]:
            row = rows.setdefault((result["game"], result["contest"], bot), dict.fromkeys(COUNTS, 0))
            row["played"] += 1
            row[outcome(result, bot)] += 1
            row["absent"] += absent and result["victor"] != bot
            if scores is not None:
                row[SCORED] = row.get(SCORED, 0) + scores.get(bot, 0)
    return rows


def _about(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return result.get("match") or {}


def _places(result: Mapping[str, Any]) -> Mapping[str, int]:
    return _about(result).get("places") or {}


def counted_by_pair(results: Iterable[Mapping[str, Any]], rows: ByPair | None = None) -> ByPair:
    """(game, contest, bot, opponent) -> wins, draws and losses against the opponent, as in `counted`."""
    rows = {} if rows is None else rows
    for result in results:
        if result["contest"] is None:
            continue
        for bot, opponent in permutations(result["players"], 2):
            key = (result["game"], result["contest"], bot, opponent)
            row = rows.setdefault(key, dict.fromkeys(OUTCOMES, 0))
            row[between(result, bot, opponent)] += 1
    return rows


def move(
    standings: Table,
    pairs: Table,
    results: Sequence[Mapping[str, Any]],
    session: ClientSession | None = None,
    sign: int = 1,
) -> None:
    """Adds the results to both tables (sign 1) or subtracts them (sign -1), perhaps as part of a transaction.

    The caller handles the driver's errors.
    """
    standings.bulk_write(_moves(counted(results), sign), session=session, ordered=False)
    pairs.bulk_write(_moves(counted_by_pair(results), sign), session=session, ordered=False)


def _moves(rows: Mapping[Any, Counts], sign: int) -> list[UpdateOne]:
    return [
        UpdateOne(
            dict(zip(KEY, key, strict=False)),
            {"$inc": {name: sign * count for name, count in row.items()}},
            upsert=True,
        )
        for key, row in rows.items()
    ]
