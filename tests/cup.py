"""A contest for tests that need no organiser."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from battlebot.contests.contest import Contest


def cup(**fields: Any) -> Contest:
    """Returns a contest `cup` of numberwang that runs, open and of five meetings a pair, but for these fields."""
    about = {"game": "numberwang", "name": "cup", "title": "cup", "state": "running", "meetings": 5, "opened_by": "ann"}
    return Contest(**{**about, "created_at": datetime.now(UTC), **fields})
