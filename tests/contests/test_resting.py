"""Pairs whose matches the server spoils again and again: they meet again, but not at full speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hall import GAME, Hall

from battlebot.contests.service.resting import FIRST_S, LONGEST_S, pause_s
from battlebot.referee.events import Failed

FORMATS: list[dict[str, Any]] = [
    {"format": "open", "entrants": "open", "meetings": 5},
    {"format": "round-robin", "meetings": 5},
    {"format": "swiss", "meetings": 1},
    {"format": "knockout", "meetings": 1},
    {"format": "gauntlet", "meetings": 3},
    {"format": "champion", "meetings": 1},
]


def spoil(hall: Hall) -> int:
    """Lets the server spoil the live matches, and their bots wait again; returns how many there were."""
    matches = hall.live()
    for match in matches:
        hall.conductor.conduct(match, Failed("a mistake"))
    hall.archive()
    for match in matches:
        hall.wait("".join(seat.bot for seat in match.seats))
    return len(matches)


def spoilt(hall: Hall, times: int) -> None:
    """The server spoils the pair's match so many times in a row; then the pairer's clock shows when it did so last."""
    for _ in range(times):
        assert len(hall.pair()) == 1
        assert spoil(hall) == 1
    hall.pairer.now_s = after_the_last(hall, 0.0)


def after_the_last(hall: Hall, seconds: float) -> Callable[[], float]:
    """A clock that shows so many seconds after the last match that the server spoilt."""
    last = hall.storage.voids.spoilt(GAME, "cup", datetime.fromtimestamp(0.0, UTC))[-1]
    now_s = last["at"].timestamp() + seconds
    return lambda: now_s


@pytest.mark.parametrize("given", FORMATS, ids=lambda given: str(given["format"]))
def test_what_the_server_spoils_is_played_again_after_growing_pauses(hall: Hall, given: dict[str, Any]) -> None:
    """Twice at once; then each pause is twice as long, also for another worker."""
    hall.begin("ab", **given)
    hall.wait("ab")
    spoilt(hall, 3)
    assert hall.pair() == []
    hall.pairer.now_s = after_the_last(hall, FIRST_S)
    spoilt(hall, 1)
    assert hall.pair() == []
    other = replace(hall.pairer, now_s=after_the_last(hall, 2 * FIRST_S - 0.1))
    assert other.pair(GAME, "cup") == 0
    other.now_s = after_the_last(hall, 2 * FIRST_S)
    assert other.pair(GAME, "cup") == 1


@pytest.mark.parametrize("given", FORMATS[:2], ids=lambda given: str(given["format"]))
def test_who_rests_from_one_opponent_meets_another(hall: Hall, given: dict[str, Any]) -> None:
    """Though it has waited longer, and has met the other less often."""
    hall.begin("abc", **given)
    hall.wait("ab")
    spoilt(hall, 3)
    hall.wait("c")
    (match,) = hall.pair()
    assert "c" in {seat.bot for seat in match.seats}


def test_a_match_that_is_played_ends_the_row(hall: Hall) -> None:
    """Also outages that are far apart spoil no more than one after the other."""
    hall.begin("ab", meetings=5)
    for _ in range(2):
        hall.wait("ab")
        spoilt(hall, 2)
        (match,) = hall.pair()
        hall.end(match)
        hall.archive()
    hall.wait("ab")
    assert len(hall.pair()) == 1


def test_what_is_spoilt_at_once_counts_as_one(hall: Hall) -> None:
    """Redis lost all that the bots played on several connections: they play it again at once, but not for ever."""
    hall.begin("ab", format="champion", config={"battles": 4})
    for _ in range(2):
        hall.wait("abababab")
        assert len(hall.pair()) == 4
        hall.client.flushdb()
        hall.storage.meetings.lost(hall.storage.meetings.open_ids(GAME, "cup"))
    hall.wait("abababab")
    assert len(hall.pair()) == 4
    spoil(hall)
    hall.pairer.now_s = after_the_last(hall, 0.0)
    assert hall.pair() == []
    hall.pairer.now_s = after_the_last(hall, FIRST_S)
    assert hall.pair() != []


def test_a_row_of_an_older_version_is_counted(hall: Hall) -> None:
    """It does not say when its match began: each counts."""
    hall.begin("ab", meetings=5)
    hall.wait("ab")
    spoilt(hall, 3)
    hall.storage.database["voids"].update_many({}, {"$unset": {"began": 1}})
    assert hall.pair() == []


def test_a_pause_grows_up_to_the_longest() -> None:
    """Some minutes."""
    assert [pause_s(times) for times in (1, 2, 3, 4, 5, 9, 10_000)] == [0, 0, 5, 10, 20, LONGEST_S, LONGEST_S]


def test_a_bot_is_told_that_it_rests_and_until_when(hall: Hall) -> None:
    """By `why`."""
    hall.begin("ab", meetings=5)
    hall.wait("ab")
    spoilt(hall, 3)
    lookout = hall.lookout()
    lookout.now_s = after_the_last(hall, 0.0)
    told = lookout.why(hall.contest(), "a")
    until = datetime.fromtimestamp(after_the_last(hall, FIRST_S)(), UTC)
    assert told["code"] == "resting"
    assert until.isoformat(timespec="milliseconds")[:23] in told["sentence"]
    lookout.now_s = after_the_last(hall, FIRST_S)
    assert lookout.why(hall.contest(), "a")["code"] == "pairing-soon"
