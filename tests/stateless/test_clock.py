"""A bot's time: what is charged of the time in which this process was late. The time is the test's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from battlebot.stateless.clock import Clock


@pytest.mark.parametrize(
    ("late_s", "worked_s", "thinking_s"),
    [(0.0, 0.0, 10.0), (7.0, 0.0, 3.0), (7.0, 2.0, 5.0), (0.0, 2.0, 10.0), (7.0, 9.0, 10.0), (11.0, 0.0, 0.0)],
)
def test_lateness_is_forgiven_but_for_that_by_work_on_what_the_bot_sent(
    monkeypatch: pytest.MonkeyPatch, late_s: float, worked_s: float, thinking_s: float
) -> None:
    """Ten seconds pass; nobody is charged for more, nor gains."""
    times_s, late_by_s = iter([100.0, 110.0]), iter([5.0, 5.0 + late_s])
    monkeypatch.setattr("battlebot.stateless.clock.time", SimpleNamespace(monotonic=lambda: next(times_s)))
    clock = Clock(60.0, lambda: next(late_by_s))
    clock.start()
    clock.worked(worked_s)
    assert clock.thinking_s() == thinking_s


def test_what_delays_this_process_while_it_reads_its_clocks_is_not_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes the processor away between the reading of the time and that of the lateness."""
    delayed_s = 0.0

    def delayed(reads: Callable[[], float]) -> float:
        nonlocal delayed_s
        read_s = reads()
        delayed_s += 0.05
        return read_s

    time = SimpleNamespace(monotonic=lambda: delayed(lambda: 100.0 + delayed_s))
    monkeypatch.setattr("battlebot.stateless.clock.time", time)
    clock = Clock(60.0, lambda: delayed(lambda: delayed_s))
    clock.start()
    assert clock.thinking_s() == 0.0
