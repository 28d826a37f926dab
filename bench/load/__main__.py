"""`python -m bench.load`: one job from stdin, its result to stdout."""

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
    """Runs the job: `{"job", "core", ...arguments}`; `core` None: not pinned."""
    order = orjson.loads(sys.stdin.buffer.read())
    core = order.pop("core")
    if core is not None:
        pin([os.getpid()], core)
    # what picows logs about broken connections is counted by the players themselves
    logging.disable(logging.WARNING)
    gc.collect()
    gc.freeze()
    result = uvloop.run(JOBS[order.pop("job")](**order))
    sys.stdout.buffer.write(orjson.dumps({"result": result}) + b"\n")


if __name__ == "__main__":
    main()
