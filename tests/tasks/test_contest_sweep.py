"""The sweep over all contests: what is wrong with one of them is nobody else's concern."""

from __future__ import annotations

from cluster import Cluster, wait_for

from battlebot.storage import Storage

GAME = "numberwang"


def test_a_contest_that_cannot_be_looked_after_keeps_no_other_from_going_on(parts: Cluster, storage: Storage) -> None:
    """A knockout of an even number of meetings, such as nobody can make; the others have nobody to meet, and end."""
    for bot in ("a", "b"):
        storage.bots.register(GAME, bot, "owner", b"sealed")
    more = {"game": GAME, "title": "", "state": "running", "openedBy": "x", "entrants": ["a"], "meetings": 1}
    names = ["one", "two", "three"]
    for name in names:
        storage.contests.create({**more, "name": name, "format": "round-robin"})
    broken = {"entrants": ["a", "b"], "format": "knockout", "meetings": 4}
    storage.database["contests"].update_one({"name": "two"}, {"$set": broken})
    parts.worker()
    parts.beat(sweep_interval_s=0.2)

    def states() -> list[str]:
        return [str(found["state"]) for name in names if (found := storage.contests.find(GAME, name)) is not None]

    wait_for(lambda: states() == ["finished", "running", "finished"], "the others to end", 60)
    assert "contest.not_looked_after" in parts.logs()
