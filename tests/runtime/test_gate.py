"""The gate at which one greenlet waits for another."""

from __future__ import annotations

from contextlib import suppress

import gevent
from gevent.event import Event

from battlebot.runtime.gate import Gate


def test_who_waits_goes_on_when_the_gate_is_opened() -> None:
    """Not before; and the one who opens it goes on first."""
    gate, seen = Gate(), list[str]()

    def wait() -> None:
        gate.acquire()
        seen.append("through")

    waiting = gevent.spawn(wait)
    gevent.sleep(0)
    gate.release()
    seen.append("opened")
    waiting.join(10)
    assert seen == ["opened", "through"]


def test_who_gave_up_is_not_woken_from_what_it_waits_for_now() -> None:
    """A time-out took it away from the gate; the gate is opened all the same."""
    gate, other, seen = Gate(), Event(), list[str]()

    def wait() -> None:
        with suppress(gevent.Timeout), gevent.Timeout(0.001):
            gate.acquire()
        seen.append("gave up")
        other.wait(10)
        seen.append("other" if other.is_set() else "woken")

    waiting = gevent.spawn(wait)
    while not seen:
        gevent.sleep(0.001)
    gate.release()
    gevent.sleep(0.01)
    other.set()
    waiting.join(10)
    assert seen == ["gave up", "other"]
