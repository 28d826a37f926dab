"""The order of a contest's standings, as a pure function. Counting the points is the storage's work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = ("bot_id", "score", "wins", "draws", "losses", "played")
SEED_POINTS = (3, 1, 0)  # a win, a draw, a loss


def ranked(rows: Iterable[Mapping[str, Any]], points: tuple[int, int, int] = SEED_POINTS) -> list[dict[str, Any]]:
    """The rows with `rank` and `score`, best first; rows are `{bot_id, wins, draws, losses, played}`.

    Most points first; ties are broken on most wins, then fewest losses (seed 002). A tie that stays shares its rank
    (1, 2, 2, 4) and stands in the order of names. The rows given are left as they were.
    """
    scored = ({**row, "score": _score(row, points)} for row in rows)
    ordered = sorted(scored, key=lambda row: (*_merit(row), row["bot_id"]))
    table: list[dict[str, Any]] = []
    for place, row in enumerate(ordered, start=1):
        shared = bool(table) and _merit(table[-1]) == _merit(row)
        table.append({"rank": table[-1]["rank"] if shared else place, **{name: row[name] for name in COLUMNS}})
    return table


def _score(row: Mapping[str, Any], points: tuple[int, int, int]) -> int:
    return sum(int(row[name]) * each for name, each in zip(("wins", "draws", "losses"), points, strict=True))


def _merit(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return -row["score"], -row["wins"], row["losses"]
