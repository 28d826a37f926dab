"""How often the same bots may meet in a contest. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from battlebot.contests.formats import format_named

CAP = 5  # meetings of a pair, from the seeds; no contest may allow more


def cap_of(contest: Mapping[str, Any]) -> int:
    """The highest number a meeting of the contest can have: counted per pair, or over all if all meet together."""
    kind, meetings = format_named(contest["format"]), min(int(contest["meetings"]), CAP)
    most = kind.most_meetings(contest["config"], meetings)
    return most if kind.TOGETHER else min(most, meetings)
