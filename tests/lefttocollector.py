"""What is left in memory after some work until the collector runs, which it seldom does in a part."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import FrameType
from typing import Any


def left_of(call: Callable[..., Any], work: Callable[[], object]) -> int:
    """Returns how many of the calls that the work made of a function only the collector frees.

    Such a call holds all of its variables, and its callers. The work is done twice, as code is loaded at first.
    """
    work()
    gc.collect()
    gc.disable()
    try:
        work()
        return sum(type(one) is FrameType and one.f_code is call.__code__ for one in gc.get_objects())
    finally:
        gc.enable()
        gc.collect()
