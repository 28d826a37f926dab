"""Bots that are waited for in vain: only while the contest runs and somebody looks."""

from __future__ import annotations

import pytest
from hall import GAME, Hall


def looks(hall: Hall, seconds: int) -> int:
    """A look every second; how many meetings were closed."""
    closed = 0
    for _ in range(seconds):
        hall.now_s += 1
        closed += hall.look()
    return closed


def missed(hall: Hall) -> dict[str, float]:
    """Bot -> since when it is waited for, after the hall's clock began."""
    noted = hall.missing.noted(GAME, "cup", hall.contest().run)
    return {bot: wait.since_s - 1_800_000_000 for bot, wait in noted.items()}


def test_after_the_grace_an_absent_bot_has_lost(hall: Hall) -> None:
    """Not a second earlier; who is there has won."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    assert looks(hall, 10) == 0
    assert missed(hall) == {"b": 1.0}
    assert looks(hall, 1) == 1
    assert hall.storage.meetings.of_contest(GAME, "cup")[0]["victor"] == "a"


def test_who_comes_back_has_the_whole_grace_again(hall: Hall) -> None:
    """However short it was there."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)
    hall.wait("b")
    looks(hall, 1)
    assert missed(hall) == {}
    hall.client.flushall()
    hall.wait("a")
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


@pytest.mark.parametrize("nap_s", [3, 30, 3000])
def test_a_pause_is_nobodys_absence(hall: Hall, nap_s: int) -> None:
    """Of whatever length; afterwards everybody has the whole grace."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)
    hall.do("pause")
    hall.now_s += nap_s
    hall.do("resume")
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


def test_a_server_that_was_down_charges_nobody(hall: Hall) -> None:
    """An hour in which nobody looked counts as a moment; what was seen before it counts on."""
    hall.begin("ab", absentAfterS=20)
    hall.wait("a")
    looks(hall, 5)
    hall.now_s += 3600
    assert looks(hall, 10) == 0
    assert looks(hall, 10) == 1


def test_a_slow_sweep_charges_what_it_may_and_stalls_nothing(hall: Hall) -> None:
    """It looks every minute: each time counts five seconds."""
    hall.begin("ab", absentAfterS=20)
    hall.wait("a")
    closed = 0
    for _ in range(6):
        hall.now_s += 60
        closed += hall.look()
    assert closed == 1


def test_a_contest_that_goes_on_again_has_forgotten_who_was_missing(hall: Hall) -> None:
    """It was finished while a bot was missed; a match of it is taken back, and the bot is waited for from then on."""
    hall.begin("abc", absentAfterS=10)
    (match,) = hall.play("ab")
    looks(hall, 10)
    assert "c" in missed(hall)
    hall.do("finish")
    hall.void(match)
    assert hall.contest().state == "running"
    assert missed(hall) == {}
    hall.wait("ab")
    assert looks(hall, 10) == 0


def test_nobody_is_absent_in_a_contest_that_changed_since_the_look(hall: Hall) -> None:
    """It was paused after it had been read: its meetings stay to be played."""
    hall.begin("ab", absentAfterS=1)
    looks(hall, 1)
    before = hall.contest()
    hall.do("pause")
    hall.now_s += 5
    assert hall.absences.look_at(before) == 0
    assert hall.meetings() == []
