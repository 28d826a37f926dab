"""How much of a worker's time unrated matches may take."""

from __future__ import annotations

import time
from collections.abc import Callable

import gevent
import pytest

from battlebot.runtime.cooperative import MOST_S, YIELD_S
from battlebot.stateless import pace
from battlebot.stateless.pace import LATELY_S, NAP_S, Pace

TOOK_S = 1 / 16


class Processor:
    """Each look at its clock finds it `step_s` later; the pauses, each of which lets others run."""

    def __init__(self) -> None:
        self.step_s = TOOK_S
        self.at_s = 0.0
        self.pauses: list[float] = []
        self.stops_after = 0
        self.stop: Callable[[], object] = list
        self._pause = gevent.sleep

    def look(self) -> float:
        """The time that it has been used for."""
        self.at_s += self.step_s
        return self.at_s

    def pause(self, seconds: float) -> None:
        """Notes the pause."""
        self.pauses.append(seconds)
        if len(self.pauses) == self.stops_after:
            self.stop()
        self._pause(0)


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Processor:
    """Is that of the test."""
    made = Processor()
    monkeypatch.setattr(time, "thread_time", made.look)
    monkeypatch.setattr(pace.gevent, "sleep", made.pause)
    return made


def test_what_an_unrated_match_has_computed_rated_ones_have_as_well(processor: Processor) -> None:
    """As long as they have been there lately. The first has nothing to make up for."""
    by = Pace()
    by.note_rated()
    assert [by.compute(lambda: len(processor.pauses)) for _ in range(3)] == [0, 1, 2]
    assert processor.pauses == [TOOK_S, TOOK_S]


@pytest.mark.parametrize("why", ["never", "long ago"])
def test_if_no_rated_match_is_there_others_run_for_a_moment(
    why: str, processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that comes would have to wait for all."""
    by = Pace()
    if why == "long ago":
        by.note_rated()
        now_s = time.monotonic() + LATELY_S
        monkeypatch.setattr(time, "monotonic", lambda: now_s)
    for _ in range(2):
        by.compute(list)
    assert processor.pauses == [YIELD_S]


def test_what_takes_no_time_makes_no_pause_until_it_is_some_together(processor: Processor) -> None:
    """Most battles are small."""
    by = Pace()
    by.note_rated()
    processor.step_s = MOST_S / 4
    for _ in range(4):
        by.compute(list)
    assert processor.pauses == []
    by.compute(list)
    assert processor.pauses == [pytest.approx(MOST_S)]


def test_a_long_pause_is_made_of_short_ones(processor: Processor) -> None:
    """It is as long all together."""
    by = Pace()
    by.note_rated()
    processor.step_s = 2.5 * NAP_S
    for _ in range(2):
        by.compute(list)
    assert processor.pauses == pytest.approx([NAP_S, NAP_S, NAP_S / 2])


def test_who_is_in_line_when_the_worker_stops_makes_no_pause(processor: Processor) -> None:
    """The one who makes a pause then makes no other."""
    by = Pace()
    by.note_rated()
    processor.step_s = 100 * NAP_S
    by.compute(list)
    processor.stops_after, processor.stop = 3, by.stop
    gevent.joinall([gevent.spawn(by.compute, list) for _ in range(4)], raise_error=True)
    assert processor.pauses == [NAP_S] * 3


def test_a_worker_that_stops_makes_no_pause(processor: Processor) -> None:
    """It has little time."""
    by = Pace()
    by.note_rated()
    by.stop()
    for _ in range(2):
        by.compute(list)
    assert processor.pauses == []


def test_of_many_that_wait_each_makes_its_pause(processor: Processor) -> None:
    """One after the other; also if what one computes fails."""
    by = Pace()
    by.note_rated()

    def fails() -> int:
        raise ValueError("no")

    def look() -> int:
        return len(processor.pauses)

    waiting = [gevent.spawn(by.compute, make) for make in (look, fails, look, look)]
    gevent.joinall(waiting)
    assert [one.value for one in waiting] == [0, None, 2, 3]
    assert processor.pauses == [TOOK_S] * 3
