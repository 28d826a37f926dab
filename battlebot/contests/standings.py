"""A contest's ranking, from counts that are updated with each result. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NotRequired, TypedDict

from battlebot.runtime.cooperative import cooperatively

EVERYBODY = 100  # with more bots, Sonneborn-Berger is computed only for bots that are level with another
HEAD_TO_HEADS = 10  # times it is asked again: else thousands of bots, of whom each beat the next, would part two by two

COUNTS = ("wins", "draws", "losses", "played", "absent")

Against = Mapping[str, tuple[int, int, int]]  # opponent -> wins, draws, losses
Pairs = Callable[[Sequence[str]], Mapping[str, Against]]


class TieBreaks(TypedDict):
    """`sonnebornBerger`: points of beaten opponents plus half the points of drawn ones, summed over all meetings.

    None if it was not needed. `headToHead`: points from the meetings among the bots that were level; if that separated
    some, points among those still level, and so on, `HEAD_TO_HEADS` times at most. Empty if no other bot was level.
    """

    sonnebornBerger: float | None
    headToHead: list[int]


class Row(TypedDict):
    """A standing. `played` = wins + draws + losses. `losses` include the `absent` ones; byes are in `score` only.

    `scored`: the sum of the bot's scores in its matches; only in rows of `ranking_by`.
    """

    rank: int
    bot_id: str
    score: int
    wins: int
    draws: int
    losses: int
    played: int
    absent: int
    byes: int
    tieBreaks: TieBreaks
    scored: NotRequired[int]


def ranking(
    entrants: Iterable[str],
    rows: Iterable[Mapping[str, Any]],
    pairs: Pairs,
    points: tuple[int, int, int],
    byes: Mapping[str, int],
) -> list[Row]:
    """The rows of all entrants and of all bots in `rows` or `byes`, best first.

    `rows`: `{bot_id, wins, draws, losses, played, absent}`; `pairs(bots)`: for each of these bots what it has done
    against others (`against_each`); `points`: for a win, a draw, a loss. Most points first, then most wins, then
    fewest losses (as the original); then Sonneborn-Berger, then head-to-head. Bots still level share a rank (1, 2, 2,
    4), in the order of names.
    """
    kept = {row["bot_id"]: row for row in rows}
    table = {
        bot: _row(bot, kept.get(bot, {}), byes.get(bot, 0), points)
        for bot in cooperatively(dict.fromkeys([*entrants, *kept, *byes]))
    }
    groups = [list(level) for _, level in groupby(sorted(table.values(), key=_merit), key=_merit)]
    compared = [row for level in groups if len(table) <= EVERYBODY or len(level) > 1 for row in level]
    asked = [row["bot_id"] for row in compared if row["played"]]
    between = pairs(asked) if asked else {}
    for row in cooperatively(compared):
        row["tieBreaks"]["sonnebornBerger"] = _sonneborn_berger(between.get(row["bot_id"], {}), table)
    return _ranked(table, groups, between, points)


def against_each(bots: Iterable[str], pairs: Iterable[Mapping[str, Any]]) -> Mapping[str, Against]:
    """What each bot has done against others, from the rows `{bot_id, opponent, wins, draws, losses}` of these bots."""
    found: dict[str, dict[str, tuple[int, int, int]]] = {bot: {} for bot in bots}
    for pair in cooperatively(pairs):
        found[pair["bot_id"]][pair["opponent"]] = pair["wins"], pair["draws"], pair["losses"]
    return found


def ranking_by(merit: Callable[[Row], Any], entrants: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Like `ranking`, with `scored`, ordered by `merit` alone, greatest first; `score` is the number of wins."""
    kept = {row["bot_id"]: row for row in rows}
    table: list[Row] = []
    for bot in cooperatively(dict.fromkeys([*entrants, *kept])):
        counts = kept.get(bot, {})
        table.append({**_row(bot, counts, 0, (1, 0, 0)), "scored": int(counts.get("scored", 0))})
    table.sort(key=lambda row: row["bot_id"])
    table.sort(key=merit, reverse=True)
    for index, row in enumerate(cooperatively(table)):
        before = table[index - 1] if index else None
        row["rank"] = before["rank"] if before is not None and merit(before) == merit(row) else index + 1
    return table


def _row(bot: str, kept: Mapping[str, Any], byes: int, points: tuple[int, int, int]) -> Row:
    win, draw, loss = points
    wins, draws, losses, played, absent = (int(kept.get(name, 0)) for name in COUNTS)
    return Row(
        rank=0,
        bot_id=bot,
        score=win * (wins + byes) + draw * draws + loss * losses,
        wins=wins,
        draws=draws,
        losses=losses,
        played=played,
        absent=absent,
        byes=byes,
        tieBreaks=TieBreaks(sonnebornBerger=None, headToHead=[]),
    )


def _merit(row: Row) -> tuple[int, int, int]:
    return -row["score"], -row["wins"], row["losses"]


def _sonneborn_berger(met: Against, table: Mapping[str, Row]) -> float:
    twice = sum(
        (2 * wins + draws) * table[opponent]["score"] for opponent, (wins, draws, _) in met.items() if opponent in table
    )
    # a half is exact in binary
    return twice / 2 if twice % 2 else twice // 2


def _ranked(
    table: Mapping[str, Row],
    groups: Iterable[list[Row]],
    between: Mapping[str, Against],
    points: tuple[int, int, int],
) -> list[Row]:
    ordered: list[Row] = []
    for group in cooperatively(groups):
        group.sort(key=_berger)
        for _, level in groupby(group, key=_berger):
            for shared in cooperatively(_parted([row["bot_id"] for row in level], table, between, points)):
                rank = len(ordered) + 1
                for bot in sorted(shared):
                    table[bot]["rank"] = rank
                    ordered.append(table[bot])
    return ordered


def _berger(row: Row) -> float:
    return -(row["tieBreaks"]["sonnebornBerger"] or 0)


def _parted(
    level: list[str],
    table: Mapping[str, Row],
    between: Mapping[str, Against],
    points: tuple[int, int, int],
    times: int = HEAD_TO_HEADS,
) -> list[list[str]]:
    """Splits level bots by head-to-head into groups that stay level, best first; adds their points to `tieBreaks`."""
    if len(level) < 2 or not times:
        return [level]
    bots, scores = set(level), dict.fromkeys(level, 0)
    for bot in cooperatively(level):
        # iterates over the smaller one: few have met, or few are level
        met = between.get(bot, {})
        for other in bots & met.keys():
            scores[bot] += sum(count * each for count, each in zip(met[other], points, strict=True))
    for bot in level:
        table[bot]["tieBreaks"]["headToHead"].append(scores[bot])
    if len(set(scores.values())) == 1:
        return [level]
    groups: dict[int, list[str]] = defaultdict(list)
    for bot in level:
        groups[scores[bot]].append(bot)
    parts = cooperatively(groups[score] for score in sorted(groups, reverse=True))
    return [group for part in parts for group in _parted(part, table, between, points, times - 1)]
