"""When the garbage collector runs in a part: hardly ever while it loads its code, and afterwards not over that code.

Otherwise it took a tenth of a start, a twentieth of a busy node's time, and at the end a quarter of what a start takes.
"""

from __future__ import annotations

import gc
import time

# for `gc.set_threshold`
LOADING = (50_000, 20, 20)  # a part that waits for its stores keeps no more garbage than that
RUNNING = (10_000, 20, 20)

LONG_S = 10.0  # the code is loaded by then, unless the machine is very busy
_STARTED_S = time.monotonic()


def expect_code() -> None:
    """Collect hardly ever; call first in a part. One that waits long for its stores meanwhile still collects."""
    gc.set_threshold(*LOADING)


def keep_loaded_code() -> None:
    """Collect seldom, and leave alone what there is now; call in each process of a part as soon as it serves.

    Collects first only after a long start: the garbage of a part that waited for its stores would be kept for ever.
    Does nothing when it is called again, as after each reconnection: garbage of that time would be kept as well.
    """
    # Python 3.14 has no third threshold, and tells 0
    if gc.get_threshold()[:2] != RUNNING[:2]:
        if time.monotonic() > _STARTED_S + LONG_S:
            gc.collect()
        gc.freeze()
        gc.set_threshold(*RUNNING)
