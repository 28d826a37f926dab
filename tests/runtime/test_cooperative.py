"""Long work lets others run."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace

import pytest
from cluster import LIMIT_S, wait_for

from battlebot.runtime import cooperative as module
from battlebot.runtime.cooperative import MOST_S, Line, cooperatively


def test_it_pauses_by_the_time_that_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the number of items: some take a thousand times as long as others."""
    pauses: list[float] = []
    clock = itertools.count(0, 2 * MOST_S)
    # the module's own: other threads use the real one
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=pauses.append))
    assert list(cooperatively(range(20))) == list(range(20))
    assert len(pauses) == 20
    assert min(pauses) > 0


def test_it_does_not_pause_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A switch costs more than a quick item."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 100.0))
    assert list(cooperatively(range(20))) == list(range(20))


def test_of_those_who_rest_one_goes_on_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which they came; hundreds at once would be one long piece of work."""
    line, gone_on = Line(), list[int]()
    may_go_on, resting = threading.Semaphore(0), threading.Semaphore(0)

    def rest() -> None:
        resting.release()
        assert may_go_on.acquire(timeout=LIMIT_S)

    def work(number: int) -> None:
        line.in_turn()
        gone_on.append(number)

    monkeypatch.setattr(module, "yield_to_others", rest)
    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        before = line._last
        worker.start()
        wait_for(lambda before=before: line._last is not before, "the worker in its place")
    for number, worker in enumerate(workers):
        assert resting.acquire(timeout=LIMIT_S)
        assert not resting.acquire(blocking=False)
        may_go_on.release()
        worker.join(LIMIT_S)
        assert gone_on == list(range(number + 1))


def test_large_messages_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes milliseconds to be checked. A small one waits for none of them."""
    taken = list[None]()
    monkeypatch.setattr(module, "in_turn", lambda: taken.append(None))
    module.in_turn_if_large("x" * module.LARGE)
    assert not taken
    module.in_turn_if_large(b"x" * (module.LARGE + 1))
    assert len(taken) == 1
