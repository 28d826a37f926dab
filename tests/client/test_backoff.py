"""How the waits between connections grow."""

from __future__ import annotations

from battlebot.client.backoff import Backoff


def test_waits_double_up_to_ten_seconds() -> None:
    """With the dice at their highest, the waits are whole."""
    backoff = Backoff(dice=lambda: 1.0)
    assert [backoff.next_s() for _ in range(9)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10]
    backoff.reset()
    assert backoff.next_s() == 0.1


def test_where_a_match_waits_they_double_up_to_two_seconds_for_half_a_minute() -> None:
    """The match will not wait for ever, and the server may be gone for good."""
    backoff = Backoff(dice=lambda: 1.0)
    waits = [backoff.next_s(in_match=True) for _ in range(22)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, *[2] * 15, 10, 10]
    assert 30 < sum(waits[:20]) < 40


def test_jitter_takes_up_to_half_of_a_wait() -> None:
    """With the dice at their lowest; the least wait is jittered too."""
    backoff = Backoff(dice=lambda: 0.0)
    assert [backoff.next_s(), backoff.next_s(), backoff.next_s(at_least_s=2)] == [0.05, 0.1, 1.0]


def test_only_the_first_connection_is_made_soon() -> None:
    """A server that sends bots away at once must not be called in a tight loop."""
    backoff = Backoff(dice=lambda: 1.0)
    assert [backoff.soon_s(), backoff.soon_s(), backoff.soon_s()] == [0, 0.2, 0.4]
    assert Backoff().next_s() <= 0.1
    backoff.reset()
    assert [backoff.soon_s(in_match=True) for _ in range(7)] == [0, 0.2, 0.4, 0.8, 1.6, 2, 2]


def test_ten_thousand_failures_do_not_overflow() -> None:
    """A bot may wait for its server for days."""
    backoff = Backoff()
    assert max(backoff.next_s() for _ in range(10_000)) <= 10
