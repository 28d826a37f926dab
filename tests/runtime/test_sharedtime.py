"""The time that all processes share, by clocks of the test's own: a steady one, the machine's, and the one followed."""

from __future__ import annotations

import os

import pytest
from clocks import Clock
from structlog.testing import capture_logs

from battlebot.errors import Unavailable
from battlebot.runtime import sharedtime
from battlebot.runtime.sharedtime import SPREAD_OVER, SPREAD_S, SharedTime

MACHINE_S, THERE_S = 5_000.0, 1_000.0


class World:
    """Three clocks that all go on by `pass_by`; the followed one can be set, and may be slow to be read."""

    def __init__(self) -> None:
        self.steady, self.machine, self.there = Clock(70.0), Clock(MACHINE_S), Clock(THERE_S)
        self.shared = SharedTime(self.steady, self.machine)

    def pass_by(self, seconds: float) -> None:
        for clock in (self.steady, self.machine, self.there):
            clock.now_s += seconds

    def look(self, before_s: float = 0.0, after_s: float = 0.0) -> tuple[float, float]:
        """Looks: the other clock is read so long after the look began, and its answer has come so long after that."""

        def read() -> float:
            self.pass_by(before_s)
            found_s = self.there()
            self.pass_by(after_s)
            return found_s

        return self.shared.look(read)

    @property
    def error_s(self) -> float:
        """By how much the shared time is ahead of the clock that it follows."""
        return self.shared.now_s() - self.there()


@pytest.fixture
def world() -> World:
    """Returns clocks of which the followed one has been looked at once."""
    world = World()
    world.look()
    return world


def test_it_is_the_machines_until_the_other_was_read() -> None:
    """A process may begin while the other clock cannot be read."""
    world = World()
    assert world.shared.now_s() == MACHINE_S
    world.look()
    assert world.shared.now_s() == THERE_S


@pytest.mark.parametrize("step_s", [-86_400.0, -3.0, 3.0, 86_400.0])
def test_the_machines_clock_may_be_set(world: World, step_s: float) -> None:
    """Nothing changes."""
    world.machine.now_s += step_s
    assert world.error_s == 0
    world.look()
    world.pass_by(1.0)
    assert world.error_s == pytest.approx(0)


@pytest.mark.parametrize("step_s", [-SPREAD_S, -0.1, 0.1, SPREAD_S])
def test_a_small_step_of_the_other_is_spread(world: World, step_s: float) -> None:
    """Over ten times as long, in either direction; then it agrees."""
    world.there.now_s += step_s
    passed_s, before_s = 0.0, world.shared.now_s()
    while abs(world.error_s) > 1e-6:
        world.pass_by(1.0)
        world.look()
        passed_s += 1.0
        assert world.shared.now_s() - before_s == pytest.approx(1.0, abs=1.0 / SPREAD_OVER + 1e-6)
        before_s = world.shared.now_s()
    assert passed_s == pytest.approx(abs(step_s) * SPREAD_OVER, abs=1.0)


@pytest.mark.parametrize("step_s", [-86_400.0, -SPREAD_S - 0.1, SPREAD_S + 0.1, 86_400.0])
def test_a_large_step_of_the_other_counts_at_once(world: World, step_s: float) -> None:
    """All that was noted meanwhile is by that clock."""
    world.there.now_s += step_s
    world.pass_by(1.0)
    world.look()
    assert world.error_s == pytest.approx(0)


@pytest.mark.parametrize(("before_s", "after_s"), [(2.0, 0.0), (0.0, 2.0), (1.0, 1.0)])
def test_a_slow_look_changes_nothing(world: World, before_s: float, after_s: float) -> None:
    """The process may have stood still, or the line: when the other clock was read is not known."""
    for _ in range(3):
        world.look(before_s, after_s)
        assert world.error_s == pytest.approx(0)


@pytest.mark.parametrize("slow_s", [0.0, 0.5])
@pytest.mark.parametrize("off_s", [-200.0, 0.0, 200.0])
def test_it_tells_how_much_the_machine_is_ahead(off_s: float, slow_s: float) -> None:
    """As far as it is sure of that."""
    world = World()
    world.machine.now_s = world.there.now_s + off_s
    least_s, most_s = world.look(slow_s)
    assert least_s - 1e-6 <= off_s <= most_s + 1e-6
    assert most_s - least_s == pytest.approx(slow_s)


@pytest.mark.parametrize(("before_s", "after_s"), [(4.0, 0.0), (0.0, 4.0), (3.0, 3.0)])
def test_a_right_clock_stays_right_however_slow_the_first_look_is(before_s: float, after_s: float) -> None:
    """Nothing speaks against it."""
    world = World()
    world.machine.now_s = world.there.now_s
    world.look(before_s, after_s)
    assert world.error_s == pytest.approx(0)


@pytest.mark.parametrize("off_s", [-2.0, 2.0, 4_000.0, -4_000.0])
def test_a_slow_first_look_is_put_right_at_once(off_s: float) -> None:
    """It may have waited for a connection; what it did not know is no step."""
    world = World()
    world.machine.now_s = world.there.now_s + off_s
    world.look(3.0, 3.0)
    assert abs(world.error_s) > 1
    world.pass_by(1.0)
    world.look()
    assert world.error_s == pytest.approx(0)
    world.there.now_s += 1.0
    world.pass_by(1.0)
    world.look()
    assert world.error_s == pytest.approx(-1.0, abs=0.2), "a step is spread"


def test_a_step_is_spread_also_after_a_long_silence(world: World) -> None:
    """The followed clock may not have answered for minutes."""
    world.pass_by(600.0)
    world.there.now_s += 4.0
    world.look()
    assert world.error_s < -3


def test_who_follows_a_clock_waits_until_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own may be wrong by days; what is noted by that would stand there."""
    shared = SharedTime()
    monkeypatch.setattr(sharedtime, "_SHARED", shared)
    monkeypatch.setattr(sharedtime, "_followed_in", 0)
    sharedtime.check()
    monkeypatch.setattr(sharedtime, "_followed_in", os.getpid())
    with pytest.raises(Unavailable):
        sharedtime.check()
    shared.look(lambda: THERE_S)
    sharedtime.check()


def test_the_log_says_once_that_the_clock_is_off_and_once_that_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it is off by about as much as is told, and looks are slow."""
    offs = [(1.001, 1.002), (0.999, 1.0), (1.001, 1.002), (-0.4, 1.002), (0.1, 0.1), (0.9, 0.9), (-7.5, -3.0)]
    teller = sharedtime._Teller()
    with capture_logs() as told:
        for off in offs:
            teller.note(*off)
        for _ in range(3):
            teller.failed(ValueError())
    assert [(line["event"], line.get("ahead_s")) for line in told] == [
        *(("clock.apart", 1.0), ("clock.agrees", None), ("clock.apart", -3.0)),
        ("clock.not_compared", None),
    ]
