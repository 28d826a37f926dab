"""wsgi.py for a part whose machine's clock is off by as many seconds as the file named in WRONG_CLOCK says."""

from __future__ import annotations

import os
import struct
import time
from datetime import datetime, timedelta, tzinfo
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from celery.worker import request

_SIZE = struct.calcsize("d")
with Path(os.environ["WRONG_CLOCK"]).open("rb") as _file:
    _off = mmap(_file.fileno(), _SIZE, access=ACCESS_READ)
_right_s = time.time


def off_s() -> float:
    """Returns by how much."""
    (seconds,) = struct.unpack("d", _off[:])
    return float(seconds)


class Wrong(datetime):
    """The moments of Celery's worker."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        """Returns the moment by the wrong clock."""
        return datetime.now(tz) + timedelta(seconds=off_s())


# before anything of ours is loaded, some of which keeps the function
time.time = lambda: _right_s() + off_s()
request.datetime = Wrong  # type: ignore[attr-defined]


def __getattr__(name: str) -> Any:
    import wsgi

    return getattr(wsgi, name)
