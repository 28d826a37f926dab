"""How often something may be logged, by a clock of the test's own."""

from __future__ import annotations

import pytest

from battlebot.runtime import loglimit as module
from battlebot.runtime.loglimit import EVERY_S, LogLimit


def test_a_thing_is_logged_once_in_a_while() -> None:
    """Each by itself; again when that time is over."""
    now_s = [5.0]
    log_limit = LogLimit(lambda: now_s[0])
    assert [log_limit("a"), log_limit("a"), log_limit("b")] == [True, False, True]
    now_s[0] += EVERY_S - 0.1
    assert not log_limit("a")
    now_s[0] += 0.1
    assert [log_limit("a"), log_limit("a")] == [True, False]


def test_of_many_things_the_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And logged again: what is remembered is bounded."""
    monkeypatch.setattr(module, "REMEMBERED", 2)
    log_limit = LogLimit(lambda: 5.0)
    assert [log_limit(thing) for thing in "abbca"] == [True, True, False, True, True]
