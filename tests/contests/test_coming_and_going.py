"""Bots that come and go between two looks for absent ones: some play, and some keep the others from playing."""

from __future__ import annotations

from hall import GAME, Hall
from test_absences import looks, missed

from battlebot.arena.live.queue import BY_A_TASK, Ticket


def come(hall: Hall, bot: str) -> Ticket:
    """Makes a bot wait from now on; returns its ticket."""
    ticket = Ticket("n/now", bot, hall.now_s)
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


def test_who_is_never_seen_playing_because_its_matches_are_short_is_not_missed_for_long(hall: Hall) -> None:
    """An original client connects anew for each match: most looks find it on its way."""
    hall.begin("ab", meetings=5, absentAfterS=10)
    for _ in range(4):
        assert looks(hall, 9) == 0
        hall.play("ab")
        assert missed(hall) == {}
    assert looks(hall, 9) == 0
