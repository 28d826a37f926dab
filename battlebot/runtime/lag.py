"""How late this process is with its own work: time that must not be charged to a bot."""

from __future__ import annotations

import threading
import time

BEAT_S = 0.02


class Lag:
    """A thread that should wake every `BEAT_S` and sums up how much later it wakes.

    What delays it (a busy or stalled event loop, a paused process) also delays the readers of bots' sockets.
    """

    def __init__(self) -> None:
        self._behind_s = 0.0
        self._wakes_s = time.monotonic() + BEAT_S

    def start(self) -> None:
        """Starts the thread."""
        self._wakes_s = time.monotonic() + BEAT_S
        threading.Thread(target=self._run, name="lag", daemon=True).start()

    def total_s(self) -> float:
        """Returns the seconds by which this process has been late so far, including now; it only grows."""
        return self._behind_s + max(0.0, time.monotonic() - self._wakes_s)

    def _run(self) -> None:
        while True:
            time.sleep(max(0.0, self._wakes_s - time.monotonic()))
            now_s = time.monotonic()
            self._behind_s += max(0.0, now_s - self._wakes_s)
            self._wakes_s = now_s + BEAT_S
