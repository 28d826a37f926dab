"""Long work in a process that others share: a web node is one, and the bots who play on it go first."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

LARGE = 2048  # characters or bytes of a message: longer than any login, and than the turns of most games
MOST_S = 0.005  # without a switch to other greenlets, unless one item takes longer
# not 0: gevent looks at sockets and clocks only after 50 sleeps of that kind
YIELD_S = 1e-4


def yield_to_others() -> None:
    """Lets all other greenlets run whose sockets or clocks are ready."""
    time.sleep(YIELD_S)


class Line:
    """Those who wait for one another, and for nobody else."""

    def __init__(self) -> None:
        self._last = threading.Event()  # set as soon as whoever came last has gone on
        self._last.set()

    def in_turn(self) -> None:
        """Lets all others run, and returns when all who have called this before have gone on, one after the other.

        Otherwise hundreds that rest at the same moment would go on at the same moment, without a rest between them.
        """
        before, self._last = self._last, (own := threading.Event())
        try:
            before.wait()
            yield_to_others()
        finally:
            own.set()


_everybody = Line()


def in_turn() -> None:
    """`Line.in_turn` of the line in which all long work of the process waits."""
    _everybody.in_turn()


def in_turn_if_large(text: str | bytes) -> None:
    """Call before a message from outside is decoded: hundreds of large ones at one moment are taken one by one.

    Not for a turn: its bot's clock runs until the arena has it.
    """
    if len(text) > LARGE:
        in_turn()


class Unhurried(tuple[Item, ...]):
    """A tuple of many items: whoever goes through it does so as `cooperatively` does."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Item]:
        """Yields the items."""
        return cooperatively(super().__iter__())


def cooperatively(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the items; whenever making and using them has taken `MOST_S`, all other greenlets run that are ready."""
    since_s = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - since_s >= MOST_S:
            in_turn()
            since_s = time.monotonic()
