"""The garbage collector of a part leaves alone what was loaded before the part served."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import weakref

import pytest

from battlebot.embedded.collector import LOADING, LONG_S, RUNNING, expect_code, keep_loaded_code


class Attempt:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("told", ["by this Python", "by Python 3.14"])
def test_a_part_collects_hardly_ever_until_it_serves(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From then on seldom, and not what there was before. Python 3.14 has no third threshold: it tells 0."""
    before, tells = gc.get_threshold(), gc.get_threshold
    if told == "by Python 3.14":
        monkeypatch.setattr(gc, "get_threshold", lambda: (*tells()[:2], 0))
    try:
        expect_code()
        assert gc.get_threshold()[:2] == LOADING[:2]
        keep_loaded_code()
        assert gc.get_threshold()[:2] == RUNNING[:2]
        kept = gc.get_freeze_count()
        assert kept > 1000
        later = [[] for _ in range(1000)]
        keep_loaded_code()
        assert gc.get_freeze_count() < kept + len(later)
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_what_a_part_left_behind_while_it_waited_for_its_stores_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A web node that waited five minutes for Redis would keep a hundred thousand objects for ever."""
    before = gc.get_threshold()
    try:
        expect_code()
        left = weakref.ref(Attempt())
        assert left() is not None
        later_s = time.monotonic() + LONG_S
        monkeypatch.setattr(time, "monotonic", lambda: later_s)
        keep_loaded_code()
        assert left() is None
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_a_part_that_waits_keeps_little_of_what_its_attempts_leave() -> None:
    """A worker that waits for Redis leaves 160 objects with each attempt: with 200,000 it grew for 40 minutes."""
    before = gc.get_threshold()
    try:
        gc.collect()
        expect_code()
        left = weakref.ref(Attempt())
        attempts = [[] for _ in range(60_000)]
        assert left() is None
        assert attempts
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("moment", ["worker_ready", "worker_process_init", "beat_init"])
def test_celery_s_processes_do_so(moment: str) -> None:
    """The worker, each of its pool, and beat."""
    code = f"""
import gc
import battlebot.embedded.celery_hooks
from celery import signals

signals.{moment}.send(sender=None)
print(gc.get_freeze_count() > 1000)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"
