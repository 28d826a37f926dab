"""How often the same bots may meet in a contest. Pure."""

from __future__ import annotations

from battlebot.contests.contest import Contest
from battlebot.contests.installed import format_of

CAP = 5  # meetings of a pair, as in the original; no contest may allow more


def cap_of(contest: Contest) -> int:
    """The highest number a meeting of the contest can have: counted per pair, or over all if all meet together."""
    form, meetings = format_of(contest), min(contest.meetings, CAP)
    most = form.most_meetings(contest.config, meetings)
    return most if form.TOGETHER else min(most, meetings)
