"""How late a process is, by a clock of the test's own."""

from __future__ import annotations

import pytest
from clocks import Clock

from battlebot.runtime.lag import BEAT_S, MOST_STALLS, Lag


@pytest.fixture
def clock() -> Clock:
    """Returns the clock."""
    return Clock(100.0)


@pytest.fixture
def lag(clock: Clock) -> Lag:
    """Stood still from 100 to 103 and from 105 to 106, and does so again since 109; between that it was in time."""
    lag = Lag(clock)
    for began_s, ended_s in ((100.0, 103.0), (105.0, 106.0), (109.0, 109.0)):
        while clock.now_s < began_s:
            clock.now_s = min(clock.now_s + BEAT_S, began_s)
            lag.wake()
        clock.now_s = ended_s
    clock.now_s = 110.0
    return lag


BETWEEN: dict[str, tuple[float, float, float]] = {
    # two moments, and for how long it stood still between them
    "all": (99.0, 111.0, 5.0),
    "all of a stall": (99.0, 104.0, 3.0),
    "a part of one": (101.0, 102.0, 1.0),
    "the ends of two": (102.5, 105.5, 1.0),
    "none": (103.5, 104.5, 0.0),
    "one that lasts": (106.5, 109.5, 0.5),
}


@pytest.mark.parametrize("case", BETWEEN)
def test_it_is_known_for_how_long_it_stood_still_between_two_moments(lag: Lag, case: str) -> None:
    """But for a beat each time."""
    since_s, until_s, expected_s = BETWEEN[case]
    assert lag.between_s(since_s, until_s) == pytest.approx(expected_s, abs=4 * BEAT_S)


def test_all_its_lateness_is_added_up(lag: Lag) -> None:
    """Including what lasts."""
    assert lag.total_s() == pytest.approx(5.0, abs=4 * BEAT_S)


def test_only_the_latest_stalls_are_remembered(clock: Clock) -> None:
    """Of a process that is always late."""
    lag = Lag(clock)
    for _ in range(MOST_STALLS + 100):
        clock.now_s += 1.0
        lag.wake()
    late_s = 1.0 - BEAT_S
    assert lag.between_s(0.0, clock.now_s) == pytest.approx(MOST_STALLS * late_s)
    assert lag.total_s() == pytest.approx((MOST_STALLS + 100) * late_s)


def test_what_is_late_by_less_than_a_beat_is_no_stall(clock: Clock) -> None:
    """However often: a stall before it is still remembered."""
    lag = Lag(clock)
    clock.now_s += 3.0
    lag.wake()
    for _ in range(MOST_STALLS):
        clock.now_s += 1.5 * BEAT_S
        lag.wake()
    assert lag.between_s(0.0, clock.now_s) == pytest.approx(3.0 - BEAT_S)


def test_a_deadline_is_put_off_by_what_the_process_stands_still(clock: Clock) -> None:
    """Also by what lasts; what was before does not count."""
    lag = Lag(clock)
    clock.now_s += 50.0
    left_s = lag.deadline(10.0)
    assert left_s() == 10.0
    clock.now_s += 11.0
    assert left_s() == pytest.approx(10.0, abs=2 * BEAT_S)
    lag.wake()
    clock.now_s += BEAT_S
    assert left_s() == pytest.approx(10.0, abs=2 * BEAT_S)
    for _ in range(round(11 / BEAT_S)):
        lag.wake()
        clock.now_s += BEAT_S
    assert left_s() < 0
