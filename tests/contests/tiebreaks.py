"""The ranking made a second time, from the results rather than from counts: what `standings` is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations
from typing import Any

from battlebot.contests.standings import Row, TieBreaks


@dataclass(frozen=True, slots=True)
class Result:
    """A meeting that is over. `absent`: it did not take place; `victor` is who was there, None for neither."""

    first: str
    second: str
    victor: str | None
    absent: bool = False


def counts(results: Sequence[Result]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of standings and of pairs, as the storage keeps them: what `ranking` is made from."""
    rows: dict[str, dict[str, Any]] = {}
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        for bot, other in permutations((result.first, result.second)):
            row = rows.setdefault(bot, {"bot_id": bot, "played": 0, "wins": 0, "draws": 0, "losses": 0, "absent": 0})
            pair = pairs.setdefault(
                (bot, other), {"bot_id": bot, "opponent": other, "wins": 0, "draws": 0, "losses": 0}
            )
            drawn = result.victor is None and not result.absent
            came = "draws" if drawn else "wins" if result.victor == bot else "losses"
            row["played"] += 1
            row["absent"] += result.absent and result.victor != bot
            row[came] += 1
            pair[came] += 1
    return list(rows.values()), list(pairs.values())


def table(
    entrants: Iterable[str],
    results: Iterable[Result],
    points: tuple[int, int, int],
    byes: Mapping[str, int],
) -> list[Row]:
    """The rows of all entrants and of whoever has a result or a bye, best first.

    `points`: of a win, a draw, a loss. Most points first, then most wins, then fewest losses (as the original); then
    Sonneborn-Berger, then head-to-head. Those still level share a rank (1, 2, 2, 4), in the order of names.
    """
    played = list(results)
    rows = {bot: _empty(bot) for bot in [*entrants, *byes]}
    for result in played:
        _count(rows, result)
    win, draw, loss = points
    for bot, row in rows.items():
        row["byes"] = byes.get(bot, 0)
        row["played"] = row["wins"] + row["draws"] + row["losses"]
        row["score"] = win * (row["wins"] + row["byes"]) + draw * row["draws"] + loss * row["losses"]
    for bot, twice in _sonneborn_berger_twice(rows, played).items():
        # a half is exact in binary
        rows[bot]["tieBreaks"]["sonnebornBerger"] = twice / 2 if twice % 2 else twice // 2
    return _ranked(rows, played, points)


def _empty(bot: str) -> Row:
    return Row(
        rank=0,
        bot_id=bot,
        score=0,
        wins=0,
        draws=0,
        losses=0,
        played=0,
        absent=0,
        byes=0,
        tieBreaks=TieBreaks(sonnebornBerger=0, headToHead=[]),
    )


def _count(rows: dict[str, Row], result: Result) -> None:
    for bot in (result.first, result.second):
        row = rows.setdefault(bot, _empty(bot))
        if result.victor == bot:
            row["wins"] += 1
        elif result.victor is None and not result.absent:
            row["draws"] += 1
        else:
            row["losses"] += 1
            row["absent"] += result.absent


def _sonneborn_berger_twice(rows: Mapping[str, Row], results: Iterable[Result]) -> dict[str, int]:
    twice: dict[str, int] = defaultdict(int)
    for result in results:
        for bot, other in ((result.first, result.second), (result.second, result.first)):
            if result.victor == bot:
                twice[bot] += 2 * rows[other]["score"]
            elif result.victor is None and not result.absent:
                twice[bot] += rows[other]["score"]
    return twice


def _merit(row: Row) -> tuple[float, ...]:
    return -row["score"], -row["wins"], row["losses"], -(row["tieBreaks"]["sonnebornBerger"] or 0)


def _ranked(rows: Mapping[str, Row], results: Sequence[Result], points: tuple[int, int, int]) -> list[Row]:
    ordered: list[Row] = []
    for _, level in groupby(sorted(rows.values(), key=_merit), key=_merit):
        for shared in _parted([row["bot_id"] for row in level], rows, results, points):
            rank = len(ordered) + 1
            for bot in sorted(shared):
                rows[bot]["rank"] = rank
                ordered.append(rows[bot])
    return ordered


def _parted(
    level: list[str], rows: Mapping[str, Row], results: Sequence[Result], points: tuple[int, int, int]
) -> list[list[str]]:
    """The bots in groups that cannot be parted, best first; notes their points from the meetings among them."""
    if len(level) < 2:
        return [level]
    bots = set(level)
    among = [result for result in results if result.first in bots and result.second in bots]
    win, draw, loss = points
    scores = dict.fromkeys(level, 0)
    for result in among:
        for bot in (result.first, result.second):
            drawn = result.victor is None and not result.absent
            scores[bot] += draw if drawn else win if result.victor == bot else loss
    for bot in level:
        rows[bot]["tieBreaks"]["headToHead"].append(scores[bot])
    if len(set(scores.values())) == 1:
        return [level]
    groups = [[bot for bot in level if scores[bot] == score] for score in sorted(set(scores.values()), reverse=True)]
    return [group for part in groups for group in _parted(part, rows, among, points)]
