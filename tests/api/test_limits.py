"""How requests are counted, without a server: tests/security/test_addresses.py asks a real one."""

from __future__ import annotations

from battlebot.api.limits import PerMinute


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


def test_each_sender_has_a_minute_from_its_first_request() -> None:
    """Who asks too much is told when its own minute ends; then it may ask again."""
    clock = Clock()
    counts = PerMinute(2, clock)
    assert [counts.take("a") for _ in range(3)] == [0.0, 0.0, 60.0]
    clock.now_s += 40.0
    assert [counts.take("b"), counts.take("a")] == [0.0, 20.0]
    clock.now_s += 20.0
    assert [counts.take("a"), counts.take("b"), counts.take("b")] == [0.0, 0.0, 40.0]


def test_senders_whose_minute_is_over_are_forgotten() -> None:
    """The memory is that of one minute's senders, also if each asks only once."""
    clock = Clock()
    counts = PerMinute(1, clock)
    for number in range(1000):
        counts.take(str(number))
        clock.now_s += 1.0
    assert len(counts) == 60
