"""The lock of a table: held by one, taken again by the same, lent to work that goes on elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

import gevent
import pytest
from nodes import thread_lock

from battlebot.runtime.gate import greenlet_lock
from battlebot.runtime.lock import Lock


def in_thread(work: Callable[[], None]) -> Callable[[], None]:
    """Begins the work in a thread; what is returned waits for its end."""
    thread = threading.Thread(target=work)
    thread.start()
    return lambda: thread.join(10)


def in_greenlet(work: Callable[[], None]) -> Callable[[], None]:
    """Begins the work in a greenlet; what is returned waits for its end."""
    greenlet = gevent.spawn(work)
    gevent.sleep(0)
    return lambda: greenlet.join(10)


KINDS = {"threads": (thread_lock, in_thread), "greenlets": (greenlet_lock, in_greenlet)}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Lock, Callable[[Callable[[], None]], Callable[[], None]]]:
    """A lock, and what begins work beside this one."""
    make, begin = KINDS[request.param]
    return make(), begin


def test_who_holds_it_may_take_it_again_and_others_wait(
    kind: tuple[Lock, Callable[[Callable[[], None]], Callable[[], None]]],
) -> None:
    """Until it has been left as often as it was taken."""
    lock, begin = kind
    seen: list[str] = []

    def take() -> None:
        with lock:
            seen.append("other")

    with lock:
        with lock:
            end = begin(take)
        assert not lock.lend()
        seen.append("first")
    end()
    assert seen == ["first", "other"]


def test_who_takes_it_anew_keeps_others_out_as_before(
    kind: tuple[Lock, Callable[[Callable[[], None]], Callable[[], None]]],
) -> None:
    """Though nobody else had it meanwhile."""
    lock, _ = kind
    for _ in range(2):
        with lock:
            assert not lock.lend()


def test_what_is_lent_keeps_all_out_until_it_is_given_back(
    kind: tuple[Lock, Callable[[Callable[[], None]], Callable[[], None]]],
) -> None:
    """Also whoever lent it."""
    lock, begin = kind
    seen: list[str] = []

    def take() -> None:
        with lock:
            seen.append("other")

    assert lock.lend()
    assert not lock.lend()
    end = begin(take)
    seen.append("lent")
    lock.give_back()
    end()
    assert seen == ["lent", "other"]
    assert lock.lend()


def test_what_is_lent_may_be_kept_by_another(
    kind: tuple[Lock, Callable[[Callable[[], None]], Callable[[], None]]],
) -> None:
    """It is the keeper's then, who may take it again; at the end it is free."""
    lock, begin = kind
    seen: list[str] = []
    assert lock.lend()

    def keep() -> None:
        with lock.keep():
            with lock:
                pass
            seen.append(f"kept, lent: {lock.lend()}")

    begin(keep)()
    assert seen == ["kept, lent: False"]
    assert lock.lend()
