"""Work that would have to wait: it is done in the background, in order with other such work about the same things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from battlebot.runtime.background import in_background


class Postponed:
    """Work about things, which are named by texts. Work waits only for what was added before it: so none for ever."""

    def __init__(self) -> None:
        self._latest: dict[str, threading.Event] = {}  # thing -> what is set when the latest work about it is done
        self._guard = threading.Lock()

    def holds_up(self, *things: str) -> bool:
        """Returns whether work about one of the things is not done yet."""
        return bool(self._latest) and not self._latest.keys().isdisjoint(things)

    def add(self, work: Callable[[], None], *things: str) -> None:
        """Has the work done as soon as all that was added before about one of the things is done. Returns at once."""
        done = threading.Event()
        with self._guard:
            before = [self._latest[thing] for thing in things if thing in self._latest]
            self._latest.update(dict.fromkeys(things, done))
        in_background(self._do, work, before, things, done)

    def add_after_all(self, work: Callable[[], None]) -> None:
        """Has the work done as soon as all that was added before is done. Nothing waits for it. Returns at once."""
        with self._guard:
            before = list(self._latest.values())
        in_background(self._do, work, before, (), threading.Event())

    def _do(
        self, work: Callable[[], None], before: Sequence[threading.Event], things: Sequence[str], done: threading.Event
    ) -> None:
        try:
            for earlier in before:
                earlier.wait()
            work()
        finally:
            with self._guard:
                for thing in things:
                    if self._latest.get(thing) is done:
                        del self._latest[thing]
            done.set()
