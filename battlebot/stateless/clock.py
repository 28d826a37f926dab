"""Measures the time that a bot takes for an answer, without this process's own lateness."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Runs from `start()`. `late_s()`: seconds by which this process has been late so far; it only grows."""

    def __init__(self, limit_s: float, late_s: Callable[[], float]) -> None:
        self.limit_s = limit_s
        self._late_s = late_s
        self._started_s: float | None = None
        self._late_before_s = self._worked_s = 0.0

    def start(self) -> None:
        """Starts, or starts again: the question is being sent."""
        # in this order, and below the other way round: what delays us between the two is nobody's thinking
        self._late_before_s, self._started_s = self._late_s(), time.monotonic()

    def worked(self, seconds: float) -> None:
        """Notes CPU time that this process spent on what the bot sent.

        Lateness caused by it is charged to the bot. A paused process uses no CPU time.
        """
        self._worked_s += seconds

    def thinking_s(self) -> float:
        """The bot's own time so far; the whole limit if the clock was never started."""
        if self._started_s is None:
            return self.limit_s
        passed_s = time.monotonic() - self._started_s
        late_s = max(0.0, self._late_s() - self._late_before_s - self._worked_s)
        return max(0.0, passed_s - late_s)

    def left_s(self) -> float:
        """What is left of the bot's limit; negative once it is late."""
        return self.limit_s - self.thinking_s()
