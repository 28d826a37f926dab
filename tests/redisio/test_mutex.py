"""Work that one process at a time does, and a round of it for whoever asked meanwhile."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from cluster import wait_for

from battlebot.errors import Unavailable
from battlebot.redisio import keys, mutex
from battlebot.redisio.mutex import LOCK_MS, TAKE, Locks, Mutex
from battlebot.redisio.scripts import Scripts


def test_one_at_a_time_and_every_wish_is_seen_afterwards(client: redis.Redis) -> None:
    """Many ask while one works: nobody works at the same time, and a round begins after the last wish."""
    inside, most, rounds = [0], [0], []
    guard = threading.Lock()
    wishes: list[str] = []

    def work() -> int:
        with guard:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            seen = list(wishes)
        rounds.append(seen)
        with guard:
            inside[0] -= 1
        return 1

    def ask(number: int) -> int:
        with guard:
            wishes.append(str(number))
        return Mutex(Locks(client), "work").run(work)

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(ask, range(40)))
    assert most[0] == 1
    assert done == len(rounds)
    assert set(rounds[-1]) == {str(number) for number in range(40)}


def test_work_that_is_always_asked_for_ends_all_the_same(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that never ended would be killed in the middle; whoever asks next goes on."""
    monkeypatch.setattr(mutex, "ROUNDS_S", 1.0)

    def work() -> int:
        time.sleep(0.05)
        assert Mutex(Locks(client), "work").run(lambda: 100) == 0
        return 1

    assert 1 < Mutex(Locks(client), "work").run(work) < 100
    assert Mutex(Locks(client), "work").run(lambda: 100) == 100


def test_a_dead_workers_lock_lasts_only_so_long(client: redis.Redis) -> None:
    """It expires; until then a wish is left."""
    client.set(keys.lock("work"), "dead", px=50)
    ran: list[int] = []

    def work() -> int:
        ran.append(1)
        return 1

    while not ran:
        Mutex(Locks(client), "work").run(work)
    assert client.get(keys.lock("work")) is None


def test_a_dead_workers_lock_lasts_no_longer_though_the_clock_of_redis_was_set_back(client: redis.Redis) -> None:
    """A machine that starts with a wrong clock, say, and is killed; all pairing in a contest would wait for a month."""
    client.set(keys.lock("work"), "dead", px=30 * 86_400_000)
    Mutex(Locks(client), "work").run(lambda: 1)
    left_ms = client.pttl(keys.lock("work"))
    assert 0 < left_ms <= LOCK_MS


def test_a_lock_lasts_as_long_as_the_work_does(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that is; and once it is done, others may work at once."""
    monkeypatch.setattr(mutex, "LOCK_MS", 1500)  # a busy machine may renew it late
    monkeypatch.setattr(mutex, "RENEW_EVERY_S", 0.05)
    begun, let = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        return int(let.wait(60))

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(Mutex(Locks(client), "work").run, slow)
        assert begun.wait(30)
        until_s = time.monotonic() + 2.5
        wait_for(lambda: Mutex(Locks(client), "work").run(lambda: 100) or time.monotonic() > until_s)
        assert Mutex(Locks(client), "work").run(lambda: 100) == 0
        let.set()
        # the wishes that were left meanwhile are one round more, or some
        assert 1 <= working.result(30) < 100
    assert Mutex(Locks(client), "work").run(lambda: 100) == 100


def test_a_lock_that_another_has_by_now_is_not_renewed(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process had stood still."""
    monkeypatch.setattr(mutex, "RENEW_EVERY_S", 0.01)
    lock, asked, locks = keys.lock("work"), keys.asked("work"), Locks(client)
    for name, token in ((lock, "another"), (asked, "1"), ("kept", "mine"), ("wished", "1")):
        client.set(name, token, px=60_000)
    with locks.kept(lock, asked, "ours"), locks.kept("kept", "wished", "mine"):
        wait_for(lambda: max(client.pttl("kept"), client.pttl("wished")) <= mutex.LOCK_MS)
    assert min(client.pttl(lock), client.pttl(asked)) > mutex.LOCK_MS


def test_the_lock_of_another_is_not_let_go(client: redis.Redis) -> None:
    """Ours expired while we worked: whoever holds it now keeps it."""

    def work() -> int:
        client.set(keys.lock("work"), "another")
        return 1

    Mutex(Locks(client), "work").run(work)
    assert client.get(keys.lock("work")) == b"another"


def test_a_lock_whose_taking_was_not_answered_is_taken_by_the_second_call(client: redis.Redis) -> None:
    """The driver sends a call again whose answer was lost: the lock is the caller's own, not another's."""
    key, call = [keys.lock("work"), keys.asked("work")], ["mine", 10_000]
    scripts = Scripts(client)
    assert [scripts.run(TAKE, key, call), scripts.run(TAKE, key, call)] == [1, 1]
    assert scripts.run(TAKE, key, ["another's", 10_000]) == 0
    assert client.exists(keys.asked("work"))


def test_a_wish_lasts_as_long_as_the_work(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that is: it is renewed with the lock."""
    monkeypatch.setattr(mutex, "RENEW_EVERY_S", 0.01)
    rounds: list[int] = []

    def work() -> int:
        rounds.append(1)
        if len(rounds) == 1:
            assert ask(client) == 0
            assert client.pttl(keys.asked("work")) > mutex.LOCK_MS / 2
            client.pexpire(keys.asked("work"), 60_000)
            wait_for(lambda: client.pttl(keys.asked("work")) <= mutex.LOCK_MS)
        return 1

    assert Mutex(Locks(client), "work").run(work) == 2


def test_a_wish_that_came_while_the_work_failed_has_its_round(client: redis.Redis) -> None:
    """The error is raised all the same."""
    rounds: list[int] = []

    def work() -> int:
        rounds.append(1)
        if len(rounds) > 1:
            return 1
        ask(client)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Mutex(Locks(client), "work").run(work)
    assert len(rounds) == 2
    assert not client.exists(keys.asked("work"), keys.lock("work"))


@pytest.mark.parametrize(("error", "rounds"), [(ZeroDivisionError(), 2), (Unavailable("away"), 1)])
def test_work_that_always_fails_is_not_repeated_for_ever(client: redis.Redis, error: Exception, rounds: int) -> None:
    """Though it is always asked for; nor at once if it would only wait for Redis or MongoDB once more."""
    begun: list[int] = []

    def work() -> int:
        begun.append(1)
        ask(client)
        raise error

    with pytest.raises(type(error)):
        Mutex(Locks(client), "work").run(work)
    assert len(begun) == rounds
    assert client.exists(keys.asked("work")), "it stands until somebody takes the work"


def ask(client: redis.Redis) -> int:
    """Another process asks for the work."""
    return Mutex(Locks(client), "work").run(lambda: 100)
