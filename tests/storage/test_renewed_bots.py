"""What every node asks about bots every few seconds, where there are many."""

from __future__ import annotations

from datetime import timedelta

from profiled import profiled

from battlebot.runtime import sharedtime
from battlebot.storage import Storage

BOTS = 300


def test_those_whose_pass_hash_was_changed_are_found_without_a_look_at_the_others(storage: Storage) -> None:
    """Nor at those of long ago."""
    sealed, other = b"sealed", b"another"
    for number in range(BOTS):
        storage.bots.register("numberwang", f"bot{number}", "me", sealed, f"bot{number}")
    long_ago = sharedtime.now() - timedelta(days=1)
    for number in range(10):
        storage.bots.change(f"bot{number}", {"renewed": long_ago})
    assert storage.bots.renew("bot42", other, sealed)
    found, looks = profiled(storage, "bots", lambda: storage.bots.renewed_since(long_ago))
    assert [row["_id"] for row in found] == ["bot42"]
    assert sum(look["docsExamined"] for look in looks) == 1
