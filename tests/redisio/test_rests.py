"""Work that takes long and is asked for all the time leaves time for other work."""

from __future__ import annotations

import pytest
import redis

from battlebot.redisio import keys
from battlebot.redisio.rests import LONGEST_S, Rests


class Work:
    """Takes so many seconds of its own clock."""

    def __init__(self, takes_s: float) -> None:
        self.takes_s = takes_s
        self.now_s = 0.0
        self.done = 0

    def __call__(self) -> None:
        """Is done once more."""
        self.now_s += self.takes_s
        self.done += 1


def test_work_that_took_long_pauses_for_as_long(client: redis.Redis) -> None:
    """In all processes; other work does not."""
    work = Work(8.0)
    rests = Rests(client, lambda: work.now_s)
    assert rests.between("sweep", work)
    assert not rests.between("sweep", work)
    assert not Rests(client).between("sweep", work)
    assert 0 < client.pttl(keys.rests("sweep")) <= 8000
    assert rests.between("other", work)
    client.delete(keys.rests("sweep"))  # it is over
    assert rests.between("sweep", work)
    assert work.done == 3


def test_quick_work_does_not_pause_and_none_for_ever(client: redis.Redis) -> None:
    """Contests have to be ended about in time, however long that took the last time."""
    quick, endless = Work(0.01), Work(3600.0)
    assert all(Rests(client, lambda: quick.now_s).between("quick", quick) for _ in range(3))
    assert Rests(client, lambda: endless.now_s).between("endless", endless)
    assert 0 < client.pttl(keys.rests("endless")) <= LONGEST_S * 1000


def test_work_that_fails_slowly_pauses_too(client: redis.Redis) -> None:
    """It would fail again."""
    now_s = iter([0.0, 5.0])

    def fail() -> None:
        raise ValueError("a mistake")

    rests = Rests(client, lambda: next(now_s))
    with pytest.raises(ValueError, match="a mistake"):
        rests.between("sweep", fail)
    assert not rests.between("sweep", fail)
