"""How late this process is with its own work: time that must not be charged to a bot."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

BEAT_S = 0.02
MOST_STALLS = 1000  # that are remembered, the latest


class Lag:
    """A thread that should wake every `BEAT_S` and sums up how much later it wakes.

    What delays it (a busy or stalled event loop, a paused process) also delays the readers of bots' sockets. `clock` is
    monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._behind_s = 0.0
        self._wakes_s = clock() + BEAT_S
        self._stalls: deque[tuple[float, float]] = deque(maxlen=MOST_STALLS)

    def start(self) -> None:
        """Starts the thread."""
        self._wakes_s = self._clock() + BEAT_S
        threading.Thread(target=self._run, name="lag", daemon=True).start()

    def total_s(self) -> float:
        """Returns the seconds by which this process has been late so far, including now; it only grows."""
        return self._behind_s + max(0.0, self._clock() - self._wakes_s)

    def between_s(self, since_s: float, until_s: float) -> float:
        """Returns for how much of the time between two moments (monotonic) this process stood still.

        Lateness up to `BEAT_S`, unless it lasts now, does not count.
        """
        stalls = [*self._stalls, (self._wakes_s, self._clock())]
        return sum(max(0.0, min(end_s, until_s) - max(began_s, since_s)) for began_s, end_s in stalls)

    def deadline(self, wait_s: float) -> Callable[[], float]:
        """Returns a function that returns how many seconds are left of `wait_s` from now.

        Time in which the process stands still does not count: what was sent to it meanwhile lies unread.
        """
        ends_s, before_s = self._clock() + wait_s, self.total_s()
        return lambda: ends_s + self.total_s() - before_s - self._clock()

    def wake(self) -> None:
        """Notes that the thread is awake."""
        now_s = self._clock()
        self._behind_s += max(0.0, now_s - self._wakes_s)
        if now_s - self._wakes_s > BEAT_S:
            self._stalls.append((self._wakes_s, now_s))
        self._wakes_s = now_s + BEAT_S

    def _run(self) -> None:
        while True:
            time.sleep(max(0.0, self._wakes_s - self._clock()))
            self.wake()
