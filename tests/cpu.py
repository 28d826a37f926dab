"""CPU time, for tests of how work grows: they compare two amounts, as machines differ and have other work."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_cpu_s(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU time that the work took, in seconds: what else runs can only add to it."""
    took = []
    for _ in range(times):
        began_s = time.process_time()
        work()
        took.append(time.process_time() - began_s)
    return min(took)
