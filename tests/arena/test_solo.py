"""Work that one process at a time does, and that nobody's wish for is forgotten."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import redis

from battlebot.arena import keys
from battlebot.arena.scripts import Scripts
from battlebot.arena.solo import TAKE, Solo


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
        return Solo(client, "work", 10.0).run(work)

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(ask, range(40)))
    assert most[0] == 1
    assert done == len(rounds)
    assert set(rounds[-1]) == {str(number) for number in range(40)}


def test_a_dead_workers_lock_lasts_only_so_long(client: redis.Redis) -> None:
    """It expires; until then a wish is left."""
    client.set(keys.lock("work"), "dead", px=50)
    ran: list[int] = []

    def work() -> int:
        ran.append(1)
        return 1

    while not ran:
        Solo(client, "work", 10.0).run(work)
    assert client.get(keys.lock("work")) is None


def test_the_lock_of_another_is_not_let_go(client: redis.Redis) -> None:
    """Ours expired while we worked: whoever holds it now keeps it."""

    def work() -> int:
        client.set(keys.lock("work"), "another")
        return 1

    Solo(client, "work", 10.0).run(work)
    assert client.get(keys.lock("work")) == b"another"


def test_a_lock_whose_taking_was_not_answered_is_taken_by_the_second_call(client: redis.Redis) -> None:
    """The driver sends a call again whose answer was lost: the lock is the caller's own, not another's."""
    key, call = [keys.lock("work"), keys.asked("work")], ["mine", 10_000, 1000]
    scripts = Scripts(client)
    assert [scripts.run(TAKE, key, call), scripts.run(TAKE, key, call)] == [1, 1]
    assert scripts.run(TAKE, key, ["another's", 10_000, 1000]) == 0
    assert client.exists(keys.asked("work"))
