"""What takes all meetings of a contest is worked out once, however many look at it at the same moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hall import Hall

from battlebot.contests.service.foresight import REMEMBERED_S, Seen
from battlebot.errors import Unavailable

LOOKS = 6
AWAY = Unavailable("The database cannot be reached at the moment.")
TOLD: dict[str, Any] = {"planned": 3, "byes": {}, "winner": None}
STAMP = ("created", 7)
BEGAN_S, ENDED_S = 100.0, 110.0
NEXT_S = ENDED_S + REMEMBERED_S / 2


def test_who_looks_meanwhile_takes_the_result(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would hold the meetings in memory: of a round-robin there may be a hundred thousand."""
    hall.begin("abc", format="swiss")
    lookout, contest = hall.lookout(), hall.contest()
    meetings, standings = lookout.storage.meetings, lookout.storage.standings
    counted, reads = threading.Semaphore(0), list[str]()

    def reading(game: str, name: str) -> list[dict[str, Any]]:
        reads.append(name)
        assert all(counted.acquire(timeout=10) for _ in range(LOOKS))
        counted.release(LOOKS)
        return []

    def counting(game: str, name: str) -> list[dict[str, Any]]:
        counted.release()
        return []

    monkeypatch.setattr(meetings, "of_contest", reading)
    monkeypatch.setattr(standings, "of_contest", counting)
    with ThreadPoolExecutor(LOOKS) as pool:
        rankings = list(pool.map(lambda _: lookout.ranking(contest), range(LOOKS)))
    assert [len(rows) for rows in rankings] == [3] * LOOKS
    assert reads == ["cup"]


@pytest.mark.parametrize(
    ("told", "stamp", "played", "came_s", "expected"),
    [
        (TOLD, STAMP, 5, NEXT_S, True),
        (TOLD, STAMP, 5, ENDED_S + REMEMBERED_S, False),
        (TOLD, STAMP, 6, NEXT_S, False),
        (TOLD, ("created", 8), 5, NEXT_S, False),
        (AWAY, STAMP, 5, NEXT_S, False),
        (TOLD, STAMP, 5, BEGAN_S + 1, True),
        (TOLD, STAMP, 6, BEGAN_S + 1, False),
        (AWAY, STAMP, 5, BEGAN_S + 1, False),
        (TOLD, STAMP, 4, BEGAN_S - 1, True),
        (TOLD, ("created", 8), 5, BEGAN_S - 1, False),
        (AWAY, STAMP, 5, BEGAN_S - 1, True),
    ],
    ids=[
        "a moment later",
        "long after",
        "a result has come since",
        "a change has come since",
        "it had failed before",
        "while it was read",
        "while it was read, with a later result",
        "while it failed",
        "before it was read, and so it has all that was counted",
        "before it was read, but after a change",
        "before it failed: who waits does not try one after the other",
    ],
)
def test_for_whom_it_is_new_enough(
    told: Any, stamp: tuple[Any, ...], played: int, came_s: float, expected: bool
) -> None:
    """Read from 100 to 110 s for one who had counted five meetings."""
    assert Seen(STAMP, 5, BEGAN_S, ENDED_S, told).serves(stamp, played, came_s) is expected
