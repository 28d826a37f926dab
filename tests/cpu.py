"""CPU time, for tests of how work grows: they compare two amounts, as machines differ and have other load."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_cpu_s(work: Callable[[], object], times: int = 5) -> float:
    """Returns the least CPU time of several runs of the work, in seconds: other load can only add to it."""
    took = []
    for _ in range(times):
        began_s = time.process_time()
        work()
        took.append(time.process_time() - began_s)
    return min(took)
