"""What there is of a key, and how often it was counted in its window of time, with a clock of our own."""

from __future__ import annotations

from clocks import Clock

from battlebot.runtime.counting import Tally, Windows


def test_a_key_of_which_nothing_is_left_is_forgotten() -> None:
    """The memory is that of the keys of which there is something."""
    held = Tally()
    held.update({"a": 2, "b": 5})
    held.take_off("a")
    held.take_off("b", 5)
    assert held == {"a": 1}
    assert "b" not in held
    held.take_off("a")
    assert len(held) == held.total() == 0


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
