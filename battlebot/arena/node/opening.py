"""Whether a node can let bots in at its door."""

from __future__ import annotations

import math

from battlebot.runtime.answering import Answering


class Opening:
    """A node lets bots in while the store answers in which they are looked up, until it drains."""

    def __init__(self, store: Answering | None = None) -> None:
        """Without a store, the door is open until the node drains."""
        self._store = store
        self._drains = False

    def drain(self) -> None:
        """Call when the node lets in nobody any more, though it lives."""
        self._drains = True

    def ago_s(self) -> float:
        """Returns how long ago the door was last known to be open; infinite: it never was, or is shut for good."""
        if self._drains:
            return math.inf
        return 0.0 if self._store is None else self._store.ago_s()

    def look(self, fresh_s: float) -> None:
        """Finds out whether the door is open now, unless that has been tried within the last `fresh_s`."""
        if self._store is not None:
            self._store.look(fresh_s)
