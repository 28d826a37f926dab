"""Room on MongoDB's disk: anything new is refused while little is left. Only the disk is measured."""

from __future__ import annotations

import threading
import time
from typing import Any

from pymongo.database import Database

from battlebot.errors import DiskFull
from battlebot.storage.mongo import mongo_errors

KNOWN_FOR_S = 5.0
MEGABYTE = 1_000_000


class Room:
    """`least_mb`: how much must be free; 0: nothing is ever refused. What has begun is never refused."""

    def __init__(self, database: Database[dict[str, Any]], least_mb: int) -> None:
        self._database = database
        self._least_mb = least_mb
        self._guard = threading.Lock()
        self._looked_s = float("-inf")
        self._free_mb: float | None = None

    def free_mb(self) -> float | None:
        """Free megabytes on MongoDB's disk, some seconds old; None if it does not say. Raises Unavailable."""
        # one thread asks, the others take the last answer: they must not queue up here if MongoDB hangs
        if time.monotonic() - self._looked_s > KNOWN_FOR_S and self._guard.acquire(blocking=False):
            try:
                with mongo_errors():
                    stats = self._database.command("dbStats")
                total, used = stats.get("fsTotalSize"), stats.get("fsUsedSize")
                self._free_mb = None if not total or used is None else (total - used) / MEGABYTE
                self._looked_s = time.monotonic()
            finally:
                self._guard.release()
        return self._free_mb

    def check(self) -> None:
        """Raises DiskFull if there is too little room for anything new, and Unavailable."""
        if not self._least_mb:
            return
        free_mb = self.free_mb()
        if free_mb is not None and free_mb < self._least_mb:
            raise DiskFull("The server's disk is nearly full: nothing new is taken until there is room.")
