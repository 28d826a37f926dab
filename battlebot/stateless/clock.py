"""The time that a bot takes for an answer, which is its own: not what this process was late meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Runs from `start()`. `late_s()` is by how much this process has been late so far; it only grows."""

    def __init__(self, limit_s: float, late_s: Callable[[], float]) -> None:
        self.limit_s = limit_s
        self._late_s = late_s
        self._started_s: float | None = None
        self._late_before_s = self._worked_s = 0.0

    def start(self) -> None:
        """The question is sent."""
        self._started_s, self._late_before_s = time.monotonic(), self._late_s()

    def worked(self, seconds: float) -> None:
        """This process has worked for so long (by the processor's time) on what the bot sent.

        To be late by that is the bot's doing, and not forgiven. A paused process does not work.
        """
        self._worked_s += seconds

    def thinking_s(self) -> float:
        """The bot's own time so far; the whole of it where the question was not even sent."""
        if self._started_s is None:
            return self.limit_s
        late_s = max(0.0, self._late_s() - self._late_before_s - self._worked_s)
        return max(0.0, time.monotonic() - self._started_s - late_s)

    def left_s(self) -> float:
        """What the bot has left of its limit; less than nothing once it is late."""
        return self.limit_s - self.thinking_s()
