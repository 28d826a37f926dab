"""Long work lets others run."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from battlebot.runtime import unhurried as module
from battlebot.runtime.unhurried import MOST_S, unhurried


def test_it_pauses_by_the_time_that_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the number of items: some take a thousand times as long as others."""
    pauses: list[float] = []
    clock = itertools.count(0, 2 * MOST_S)
    # the module's own: other threads use the real one
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=pauses.append))
    assert list(unhurried(range(20))) == list(range(20))
    assert len(pauses) == 20
    assert min(pauses) > 0


def test_it_does_not_pause_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A switch costs more than a quick item."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))
    assert list(unhurried(range(20))) == list(range(20))
