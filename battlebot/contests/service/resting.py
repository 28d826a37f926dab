"""Pairs whose matches the server keeps spoiling, say by an error in the game: they meet again after growing pauses.

Computed from what is stored, so that it does not matter which worker pairs, nor whether one was killed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from battlebot.storage import Storage

AT_ONCE = 2  # void matches in a row that are played again without a pause: an outage spoils no more
FIRST_S = 5.0
LONGEST_S = 300.0


def resting(storage: Storage, game: str, contest: str, now: datetime) -> dict[frozenset[str], datetime]:
    """Returns the bots of each pair, or battle of all, that must not meet yet, and until when. Raises Unavailable.

    The pause begins with the end of the last match, and doubles with each match in a row that the server spoilt.
    """
    spoilt = defaultdict(list)
    for row in storage.voids.spoilt(game, contest, now - timedelta(seconds=LONGEST_S)):
        spoilt[row["pair"]].append(row)
    suspects = {pair: rows for pair, rows in spoilt.items() if len(rows) > AT_ONCE}
    played = storage.meetings.last_played(game, contest, list(suspects)) if suspects else {}
    found = {}
    for pair, rows in suspects.items():
        last = rows[-1]
        in_a_row = _in_a_row(row for row in rows if pair not in played or row["at"] > played[pair])
        until = last["at"] + timedelta(seconds=pause_s(in_a_row))
        # without a pause it may still be in the future: workers' clocks differ
        if in_a_row > AT_ONCE and until > now:
            found[frozenset(last["bots"])] = until
    return found


def _in_a_row(rows: Iterable[Mapping[str, Any]]) -> int:
    """Returns how many matches were spoilt one after another; those that were being played at once count as one.

    One outage spoils all that a bot plays on several connections.
    """
    found, last = 0, None
    for row in rows:
        if last is None or row.get("began", last) >= last:
            found, last = found + 1, row["at"]
    return found


def pause_s(in_a_row: int) -> float:
    """Returns how long a pair rests after so many matches in a row that the server spoilt."""
    if in_a_row <= AT_ONCE:
        return 0.0
    return min(LONGEST_S, FIRST_S * 2.0 ** min(in_a_row - AT_ONCE - 1, 10))
