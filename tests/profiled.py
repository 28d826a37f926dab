"""What MongoDB does for a request, by its own profiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from battlebot.storage import Storage

Answer = TypeVar("Answer")


def profiled(storage: Storage, collection: str, ask: Callable[[], Answer]) -> tuple[Answer, list[dict[str, Any]]]:
    """Returns the answer of `ask`, and MongoDB's rows about what was read of the collection for it: one at least.

    It forgets the plans that other tests have led to: MongoDB would follow them, whatever the data are now.
    """
    database = storage.database
    database.command("planCacheClear", collection)
    database.drop_collection("system.profile")
    database.command("profile", 2)
    try:
        answer = ask()
    finally:
        database.command("profile", 0)
    looks = list(database["system.profile"].find({"ns": f"{database.name}.{collection}"}))
    database.drop_collection("system.profile")
    assert looks
    return answer, looks
