"""What is read of an open contest's past to pair its waiting bots: little, however long that past is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from battlebot.storage.meetings import FEW, Meetings


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What decides how waiting bots are paired.

    `met`: the meetings between them, oldest first, then the latest of some with others, each of which shows that a
    meeting would be no rematch. `strangers`: those that have not met all others. `leads`: of each of these, how much
    more often it moved first than second.
    """

    met: Sequence[Mapping[str, Any]]
    strangers: Sequence[str]
    leads: Mapping[str, int]


def acquaintance(meetings: Meetings, game: str, contest: str, waiting: Sequence[str]) -> Acquaintance:
    """Reads it. Raises Unavailable.

    How often bots moved first, and who moved first in a void meeting, matters only to two that have never met. Their
    latest meetings matter only to two of which each was the last opponent of the other.
    """
    where, known = (game, contest), set(waiting)
    met = meetings.between(*where, waiting) if len(waiting) <= FEW else meetings.within(*where, waiting)
    opponents, last = defaultdict[str, set[str]](set), dict[str, str]()
    for a, b in (row["bots"] for row in met):
        opponents[a].add(b)
        opponents[b].add(a)
        last[a], last[b] = b, a
    strangers = [bot for bot in waiting if len(opponents[bot]) < len(waiting) - 1]
    # two bots have no choice, whoever their last opponents were
    rematches = [bot for bot, other in last.items() if last[other] == bot] if len(waiting) > 2 else []
    latest = {bot: row for row in meetings.latest(*where, rematches) for bot in row["bots"]}
    newer = [latest[bot] for bot in rematches if bot in latest and not known.issuperset(latest[bot]["bots"])]
    return Acquaintance([*met, *newer], strangers, meetings.leads(*where, strangers) if strangers else {})
