"""Sweeps that take longer than the time from one to the next, as over a slow line to MongoDB."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from test_slow_archive import bench  # noqa: F401

import tasks.contests
import tasks.matches
from battlebot.redisio.rests import Rests
from tasks.workbench import Workbench


def test_a_slow_sweep_leaves_workers_time_for_what_comes_after_it(
    bench: Workbench,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else sweeps would follow each other at once, and nobody would make ratings, which are taken last."""
    done = []
    # each look at the clock is five seconds later
    slow = replace(bench, rests=Rests(bench.client, count(0.0, 5.0).__next__))
    for module, work in ((tasks.contests, "_look_after"), (tasks.matches, "_tidy")):
        monkeypatch.setattr(module, "workbench", lambda: slow)
        monkeypatch.setattr(module, work, lambda _, work=work: done.append(work) or 0)
    for _ in range(3):
        tasks.contests.sweep()
        tasks.matches.tidy()
    assert done == ["_look_after", "_tidy"]
