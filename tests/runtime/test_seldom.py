"""How often something may be told, by a clock of the test's own."""

from __future__ import annotations

from battlebot.runtime.seldom import EVERY_S, Seldom


def test_a_thing_is_told_once_in_a_while() -> None:
    """Each by itself; again when that time is over."""
    now_s = [5.0]
    seldom = Seldom(lambda: now_s[0])
    assert [seldom("a"), seldom("a"), seldom("b")] == [True, False, True]
    now_s[0] += EVERY_S - 0.1
    assert not seldom("a")
    now_s[0] += 0.1
    assert [seldom("a"), seldom("a")] == [True, False]
