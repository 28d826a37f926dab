"""Whose place a web node's process takes: gunicorn's arbiter names its workers, and tells each which have ended."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

REMEMBERED = 10  # of those that have ended, the latest; each is told to all that start after it


@dataclass(frozen=True, slots=True)
class Succession:
    """A process's own name, which no other ever has, and the names of those that ended before it was started."""

    name: str
    ended: tuple[str, ...] = ()


class Lineage:
    """The processes of one arbiter. `own` is the current one's, if an arbiter has started it."""

    def __init__(self) -> None:
        self.own: Succession | None = None
        self._ended: list[str] = []

    def next(self) -> Succession:
        """Returns the succession of a process that is about to be started."""
        return Succession(secrets.token_hex(6), tuple(self._ended))

    def end(self, one: Succession) -> None:
        """Notes that a process has ended, as the system says: one that is only silent, or stops, may still serve."""
        self._ended = [*self._ended, one.name][-REMEMBERED:]


lineage = Lineage()
