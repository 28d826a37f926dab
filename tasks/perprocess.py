"""What a worker process makes for itself at the first call: connections must not cross a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Made = TypeVar("Made")


def once_a_process(make: Callable[[], Made]) -> Callable[[], Made]:
    """Has `make` called once in each process, also if greenlets call together. What it raises is not remembered."""
    making = threading.Lock()
    made_by = lru_cache(maxsize=1)(lambda _pid: make())

    @wraps(make)
    def made() -> Made:
        with making:
            return made_by(os.getpid())

    return made
