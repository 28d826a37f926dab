"""Bots that come and go between two looks for absent ones: some play, and some keep the others from playing."""

from __future__ import annotations

from typing import Any

import pytest
from hall import GAME, Hall
from test_absences import looks, missed

from battlebot.arena.live.queue import BY_A_TASK, Ticket


def come(hall: Hall, bot: str, place: str = "n/now", ahead_s: float = 0.0) -> Ticket:
    """Makes a bot wait from now on, by a clock that may be ahead; returns its ticket."""
    ticket = Ticket(place, bot, hall.now_s + ahead_s)
    hall.queues.wait(f"{GAME}/cup", ticket, BY_A_TASK)
    return ticket


def test_who_comes_and_goes_too_fast_to_be_paired_is_missed_all_the_same(hall: Hall) -> None:
    """Otherwise a bot that has nothing to win could hold up a contest for ever. The moments it is there count, too."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    for _ in range(5):
        looks(hall, 1)
        ticket = come(hall, "b")
        assert looks(hall, 1) == 0
        hall.queues.leave(f"{GAME}/cup", ticket)
    assert missed(hall) == {"b": 1.0}
    assert looks(hall, 1) == 1


def test_who_has_just_come_is_not_missed(hall: Hall) -> None:
    """Though it has nearly been missed for too long; if it stays, it has the whole grace again."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 10)
    ticket = come(hall, "b")
    assert looks(hall, 1) == 0
    assert missed(hall) == {"b": 1.0}
    assert looks(hall, 1) == 0
    assert missed(hall) == {}
    hall.queues.leave(f"{GAME}/cup", ticket)
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


def test_a_stateless_bot_that_comes_and_goes_is_back_each_time(hall: Hall) -> None:
    """The server has it wait only while there is a place at its address: it is entered in other contests, too."""
    hall.begin("ab", stateless="b", absentAfterS=10)
    hall.wait("a")
    for _ in range(10):
        looks(hall, 1, attended=True)
        ticket = come(hall, "b", "bots/1")
        assert looks(hall, 1, attended=True) == 0
        assert missed(hall) == {}
        hall.queues.leave(f"{GAME}/cup", ticket)


def test_who_waits_at_a_node_whose_clock_is_far_ahead_is_back(hall: Hall) -> None:
    """Else it would be as if it had just come, for as long as the clocks differ."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)
    come(hall, "b", ahead_s=100.0)
    looks(hall, 1)
    assert missed(hall) == {}


def test_a_match_that_begins_while_somebody_looks_is_not_forgotten(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait for a bot that had just come is over: the look must not note it again."""
    hall.begin("ab", meetings=2, absentAfterS=10)
    looks(hall, 9)
    hall.wait("a")
    come(hall, "b")
    known = hall.missing.noted(GAME, "cup", hall.contest().run)
    assert known.keys() == {"a", "b"}

    def noted(*of: str) -> Any:
        hall.pair()
        return known

    monkeypatch.setattr(hall.missing, "noted", noted)
    hall.look()
    monkeypatch.undo()
    assert (len(hall.live()), missed(hall)) == (1, {})


def test_who_is_never_seen_playing_because_its_matches_are_short_is_not_missed_for_long(hall: Hall) -> None:
    """An original client connects anew for each match: most looks find it on its way."""
    hall.begin("ab", meetings=5, absentAfterS=10)
    for _ in range(4):
        assert looks(hall, 9) == 0
        hall.play("ab")
        assert missed(hall) == {}
    assert looks(hall, 9) == 0
