"""What a process makes once, whoever calls; a forked one makes its own."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tasks.perprocess import once_a_process


def test_those_who_call_together_get_the_same() -> None:
    """Nobody begins to make it while another does."""
    together = threading.Barrier(8)
    made = once_a_process(object)

    def called(_: int) -> object:
        together.wait(10)
        return made()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(called, range(8)))) == 1


def test_another_process_makes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its connections must not be those of the process from which it was forked."""
    made = once_a_process(object)
    first = made()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert made() is not first
    assert made() is made()


def test_what_could_not_be_made_is_tried_again() -> None:
    """Redis or MongoDB may be away when a worker begins."""
    tries = iter([False, True])

    def make() -> str:
        if not next(tries):
            raise ConnectionError
        return "made"

    made = once_a_process(make)
    with pytest.raises(ConnectionError):
        made()
    assert made() == made() == "made"
