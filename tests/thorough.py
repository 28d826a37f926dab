"""How many random cases a test of pure code plays: few in each run, more by `make test THOROUGH=10`."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("THOROUGH", "1"))


def seeds(few: int) -> range:
    """Returns the seeds of `few` cases, or of as many times more as the environment's THOROUGH asks for."""
    return range(few * TIMES)
