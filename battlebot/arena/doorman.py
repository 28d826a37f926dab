"""Knows whether a node can let in any bot now, by asking again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()

ASK_EVERY_S = 1.0
HOLDS_S = 3.0  # how long an answer holds: the next may be late


class Doorman:
    """`ask()` raises Unavailable if bots that the node has not seen before cannot be looked up now."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._answered_s = float("-inf")

    def start(self) -> None:
        """Asks, and starts a thread that goes on asking."""
        self._look()
        threading.Thread(target=self._run, name="doorman", daemon=True).start()

    def opens(self) -> bool:
        """Returns whether bots can be let in, as was last heard. Does not ask."""
        return time.monotonic() - self._answered_s < HOLDS_S

    def _run(self) -> None:
        while True:
            time.sleep(ASK_EVERY_S)
            self._look()

    def _look(self) -> None:
        try:
            self._ask()
        except Unavailable:
            return
        except Exception:
            log.exception("doorman.failed")
            return
        self._answered_s = time.monotonic()
