"""How often something may be told, by a clock of the test's own."""

from __future__ import annotations

import pytest

from battlebot.runtime import seldom as module
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


def test_of_many_things_the_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And told again: what is remembered is bounded."""
    monkeypatch.setattr(module, "REMEMBERED", 2)
    seldom = Seldom(lambda: 5.0)
    assert [seldom(thing) for thing in "abbca"] == [True, True, False, True, True]
