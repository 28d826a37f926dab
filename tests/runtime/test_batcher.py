"""Questions of many threads, answered together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster import wait_for
from lefttocollector import left_of

from battlebot.runtime import batcher as module
from battlebot.runtime.batcher import Batcher

LIMIT_S = 30.0


class Oracle:
    """Doubles numbers, each group once it is let; negative ones it will not."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.asked = threading.Semaphore(0)
        self.let = threading.Semaphore(0)

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        self.asked.release()
        assert self.let.acquire(timeout=LIMIT_S)
        if min(numbers) < 0:
            raise ValueError(numbers)
        return [2 * number for number in numbers]


@pytest.fixture
def oracle() -> Oracle:
    """One that waits to be let."""
    return Oracle()


def test_who_asks_while_a_request_is_under_way_is_answered_by_the_next_one(oracle: Oracle) -> None:
    """All of them by one, each its own answer; and whoever comes later by another."""
    batcher = Batcher(oracle)
    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(batcher.ask, 1)
        assert oracle.asked.acquire(timeout=LIMIT_S)
        others = [pool.submit(batcher.ask, number) for number in range(2, 12)]
        wait_for(lambda: len(batcher._waiting) == len(others))
        for _ in range(2):
            oracle.let.release()
        assert first.result(LIMIT_S) == 2
        assert [other.result(LIMIT_S) for other in others] == list(range(4, 24, 2))
        assert [sorted(group) for group in oracle.groups] == [[1], list(range(2, 12))]
        oracle.let.release()
        assert pool.submit(batcher.ask, 50).result(LIMIT_S) == 100


def test_an_error_is_told_to_the_group_and_to_nobody_after(oracle: Oracle) -> None:
    """The next question is a new one."""
    batcher = Batcher(oracle)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            oracle.let.release()
        with pytest.raises(ValueError, match="-1"):
            pool.submit(batcher.ask, -1).result(LIMIT_S)
        assert pool.submit(batcher.ask, 3).result(LIMIT_S) == 6


def test_who_is_told_an_error_is_not_left_to_the_collector(oracle: Oracle) -> None:
    """It runs seldom in a node, where all who log in while a store is away are told one."""
    batcher = Batcher(oracle)

    def told() -> None:
        oracle.let.release()
        with pytest.raises(ValueError, match="-1"):
            batcher.ask(-1)

    assert not left_of(Batcher.ask, told)


def test_a_request_holds_no_more_than_so_many(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest waits for the next."""
    monkeypatch.setattr(module, "MOST", 4)
    batcher = Batcher(oracle)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(batcher.ask, 0)]
        assert oracle.asked.acquire(timeout=LIMIT_S)
        asked += [pool.submit(batcher.ask, number) for number in range(1, 11)]
        wait_for(lambda: len(batcher._waiting) == 10)
        for _ in range(4):
            oracle.let.release()
        assert [one.result(LIMIT_S) for one in asked] == list(range(0, 22, 2))
    assert [len(group) for group in oracle.groups] == [1, 4, 4, 2]
