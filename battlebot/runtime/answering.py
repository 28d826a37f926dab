"""Remembers when a store last answered, so that whoever depends on it need not wait for it each time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()


class Answering:
    """`ask()` raises Unavailable if the store does not answer; a thread calls it, or whoever requires an answer."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._asking = threading.Lock()
        self._answered_s = self._tried_s = float("-inf")

    def start(self, every_s: float) -> None:
        """Asks, and starts a thread that goes on asking. Waits until the store has answered or failed to, once."""
        self._look()
        threading.Thread(target=self._run, args=(every_s,), name="answering", daemon=True).start()

    def ago_s(self) -> float:
        """Returns how long ago the store last answered; infinite: it has not yet. Does not ask."""
        return time.monotonic() - self._answered_s

    def look(self, fresh_s: float) -> None:
        """Asks, unless it has been tried within the last `fresh_s`; who comes meanwhile waits for the same answer."""
        with self._asking:
            if time.monotonic() - self._tried_s >= fresh_s:
                self._look()

    def require(self, fresh_s: float) -> None:
        """Asks, unless the store has answered within the last `fresh_s`. Raises Unavailable if it does not answer."""
        if self.ago_s() >= fresh_s:
            self._hear()

    def _run(self, every_s: float) -> None:
        while True:
            time.sleep(every_s)
            self._look()

    def _look(self) -> None:
        try:
            self._hear()
        except Unavailable:
            return
        except Exception:
            log.exception("answering.failed")
        finally:
            self._tried_s = time.monotonic()

    def _hear(self) -> None:
        self._ask()
        self._answered_s = time.monotonic()
