"""A contest, its meetings and its bots, as they are stored, as its format sees them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from battlebot.contests.cap import cap_of
from battlebot.contests.contest import Contest
from battlebot.contests.formats.situation import Due, Met, Situation
from battlebot.contests.installed import format_of
from battlebot.runtime.cooperative import Unhurried, cooperatively


def situation_of(
    contest: Contest,
    meetings: Iterable[Mapping[str, Any]],
    came: Sequence[str],
    voids: Sequence[Mapping[str, Any]] = (),
    settled: int = 0,
) -> Situation:
    """The contest as its format sees it. `came`: the bots that have entered; used only for an open contest.

    `voids`: the meetings that were taken back, if it matters who moves first when they are played again.
    """
    # a node that others play on looks at contests of ten thousand bots, or a hundred thousand meetings, too
    entrants = Unhurried(contest.bots(came))
    count = cap_of(contest)
    points = contest.points
    return Situation(
        entrants=entrants,
        withdrawn=frozenset(contest.withdrawn),
        meetings=count,
        config=format_of(contest).checked_config(contest.config, entrants, count),
        met=Unhurried(met_of(row) for row in cooperatively(meetings)),
        points=(points["win"], points["draw"], points["loss"]),
        void=Unhurried(_due_again(row) for row in cooperatively(voids)),
        settled=settled,
    )


def met_of(row: Mapping[str, Any]) -> Met:
    """A stored meeting as a format sees it."""
    first, second, *others = row["bots"]
    counts = row.get("counts") != "void"
    return Met(row.get("round", 0), row["n"], first, second, row["state"], row.get("victor"), counts, tuple(others))


def _due_again(row: Mapping[str, Any]) -> Due:
    first, second, *others = row["bots"]
    return Due(row["round"], row["n"], first, second, tuple(others))
