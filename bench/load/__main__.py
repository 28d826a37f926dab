"""`python -m bench.load`: reads one job from stdin, writes its result to stdout."""

from __future__ import annotations

import gc
import logging
import os
import sys

import orjson
import uvloop

from bench.load.jobs import JOBS
from bench.machine import pin


def main() -> None:
    """Run the job `{"job", "core", ...arguments}`; if `core` is None, the process is not pinned."""
    order = orjson.loads(sys.stdin.buffer.read())
    core = order.pop("core")
    if core is not None:
        pin([os.getpid()], core)
    # the players themselves count the broken connections that picows logs
    logging.disable(logging.WARNING)
    gc.collect()
    gc.freeze()
    result = uvloop.run(JOBS[order.pop("job")](**order))
    sys.stdout.buffer.write(orjson.dumps({"result": result}) + b"\n")


if __name__ == "__main__":
    main()
