"""For how long a node has kept a bot out, with a clock of our own."""

from __future__ import annotations

import pytest
from clocks import Clock

from battlebot.arena.live.turnedawayhere import TurnedAwayHere


@pytest.fixture
def clock() -> Clock:
    """Standing."""
    return Clock(1000.0)


def test_who_is_turned_away_again_and_again_was_away_from_the_first_time_to_the_last(clock: Clock) -> None:
    """What passes after that, until it comes once more and is let in, is its own."""
    away = TurnedAwayHere(clock)
    for _ in range(3):
        came_s = clock.now_s
        clock.now_s += 5.0
        away.note("ada", came_s)
        clock.now_s += 1.0
    assert away.let_in("ada", clock.now_s) == 17.0
    assert away.let_in("ada", clock.now_s) == 0.0
    assert away.let_in("bob", clock.now_s) == 0.0


def test_who_stays_away_long_after_it_was_turned_away_was_not_kept_out(clock: Clock) -> None:
    """It is let in late by its own choice, or turned away anew."""
    away = TurnedAwayHere(clock)
    for key in ("ada", "bob"):
        away.note(key, clock.now_s - 5.0)
    clock.now_s += TurnedAwayHere.AGAIN_S + 1.0
    assert away.let_in("ada", clock.now_s) == 0.0
    away.note("bob", clock.now_s - 0.5)
    assert away.let_in("bob", clock.now_s) == 0.5
