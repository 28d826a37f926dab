"""The line of the unrated matches in which a worker asks bots. Nobody is asked here."""

from __future__ import annotations

from collections import deque

from battlebot.arena.live.leases import Lease


class Unrated:
    """A worker's places for asking in unrated matches, and the line for them.

    Anybody may begin any number of these, of bots that take their time: they would have all of a worker's greenlets.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting = deque[Lease]()

    def enter(self, lease: Lease) -> bool:
        """Takes a place; returns False if there is none: then the match is in line."""
        if not self._free:
            self._waiting.append(lease)
            return False
        self._free -= 1
        return True

    def leave(self) -> Lease | None:
        """Gives a place up, to the match that is returned if one is in line."""
        if self._waiting:
            return self._waiting.popleft()
        self._free += 1
        return None

    @property
    def are_sought(self) -> bool:
        """Returns whether matches are in line."""
        return bool(self._waiting)

    def give_up(self) -> list[Lease]:
        """Returns the line, which ends."""
        waiting, self._waiting = list(self._waiting), deque()
        return waiting
