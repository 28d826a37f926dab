"""How often a key was counted in its window of time, with a clock of our own."""

from __future__ import annotations

from clocks import Clock

from battlebot.runtime.windows import Windows


def test_each_key_has_a_window_from_its_first_count() -> None:
    """Beyond the limit it is told when its own window ends; then there is room again."""
    clock = Clock(1000.0)
    counts = Windows(2, 60.0, clock)
    assert [counts.take("a") for _ in range(3)] == [0.0, 0.0, 60.0]
    clock.now_s += 40.0
    assert [counts.take("b"), counts.take("a")] == [0.0, 20.0]
    clock.now_s += 20.0
    assert [counts.take("a"), counts.take("b"), counts.take("b")] == [0.0, 0.0, 40.0]


def test_keys_whose_window_is_over_are_forgotten() -> None:
    """The memory is that of one window's keys, also if each is counted only once."""
    clock = Clock(1000.0)
    counts = Windows(1, 60.0, clock)
    for number in range(1000):
        counts.take(str(number))
        clock.now_s += 1.0
    assert len(counts._counted) == 60
