"""A process that rates is killed, again and again: what is kept is always whole, and at last it is right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cluster import wait_for
from stored_matches import GAME, kept, right, season

from battlebot.config import Settings, as_environment
from battlebot.ratings.service import Rater
from battlebot.storage import Storage

ROOT = Path(__file__).parent.parent.parent

RATE = f"""
from battlebot.config import load_settings
from battlebot.ratings import service
from battlebot.storage import Storage
service.BATCH = 3
rater = service.Rater(Storage(load_settings()))
while True:
    rater.rate_new({GAME!r})
"""


def test_killed_at_any_time_the_ratings_are_whole_and_right(settings: Settings, storage: Storage) -> None:
    """Five times with SIGKILL, some after a rebuild; each time the ratings are those of the cursor's matches."""
    games = season(1500)
    storage.archive.store(games[:50])
    rater = Rater(storage)
    rater.rate_new(GAME)
    for killed in range(5):
        storage.archive.store(games[50 + 250 * killed : 300 + 250 * killed])
        if killed % 2:
            storage.ratings.mark_stale(GAME)
        wanted = storage.ratings.cursor(GAME)["revision"] + (1 if killed % 2 else 5)
        process = subprocess.Popen([sys.executable, "-c", RATE], env=as_environment(settings), cwd=ROOT)
        try:
            wait_for(lambda wanted=wanted: storage.ratings.cursor(GAME)["revision"] >= wanted, "some writes")
        finally:
            process.kill()
            process.wait()
        # MongoDB does this by itself to transactions that are a minute old
        storage.client.admin.command("killAllSessions", [])
        assert rater.compare(GAME).rows == []
    storage.archive.store(games[1300:])
    rater.rate_new(GAME)
    assert kept(storage) == right(games)
