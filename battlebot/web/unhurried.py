"""A replay for a page, which takes CPU time on a web node: the node's bots go first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

MOST_S = 0.005  # without a switch to other greenlets, unless one item takes longer
# not 0: gevent looks at sockets and clocks only after 50 sleeps of that kind
YIELD_S = 1e-4


def unhurried(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the items; whenever making and using them has taken `MOST_S`, all other greenlets run that are ready."""
    since_s = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - since_s >= MOST_S:
            time.sleep(YIELD_S)
            since_s = time.monotonic()
