"""Code that never returns is interrupted."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from battlebot.runtime.timelimit import time_limit


def for_ever() -> None:
    """Never returns."""
    with time_limit(0.05):
        while True:
            pass


def test_what_never_returns_is_interrupted() -> None:
    """Where it is; afterwards nothing is left of the limit."""
    before, others = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with pytest.raises(TimeoutError, match="not done within"):
        for_ever()
    assert signal.getsignal(signal.SIGALRM) is before
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) is (others[0] > 0)


def test_another_thread_has_no_limit() -> None:
    """Signals arrive in the main thread only."""
    done = threading.Event()

    def work() -> None:
        with time_limit(0.001):
            until_s = time.monotonic() + 0.01
            while time.monotonic() < until_s:
                pass
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done.is_set()
