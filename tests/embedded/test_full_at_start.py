"""A server whose store ends for lack of room while the server starts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import eventually

from battlebot.config import Settings
from battlebot.embedded.process import Program
from battlebot.embedded.server import Server, _wait_until_ready
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError


class Starved(Program):
    """What finds no free space."""

    def has_room(self) -> bool:
        """Never."""
        return False


def test_a_store_without_room_ends_the_start_in_one_clear_line(
    make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    """Valkey reads its file on a full disk, and ends at the first write: nodes wait for it until all time is up."""
    supervisor = Supervisor()
    failing = [sys.executable, "-S", "-c", "print('Short write: error'); raise SystemExit(1)"]
    supervisor.start(Starved(name="valkey", command=failing, log=tmp_path / "valkey.log"))
    eventually(lambda: not supervisor.child("valkey").alive)
    supervisor._look(time.monotonic())
    with pytest.raises(
        EmbeddedError, match=r"^valkey ended .+ \(exit status 1\): Short write: error .+; less than 128 MB are free"
    ):
        _wait_until_ready(Server("", make_settings(), supervisor), 10.0)
    supervisor.stop()


def test_a_store_that_is_to_be_started_again_does_not(make_settings: Callable[..., Settings]) -> None:
    """There is room for it."""
    supervisor = Supervisor()
    supervisor.start(Program(name="valkey", command=[sys.executable, "-S", "-c", "raise SystemExit(1)"]))
    eventually(lambda: not supervisor.child("valkey").alive)
    supervisor._look(time.monotonic())
    assert supervisor.waits_for_room() is None
    supervisor.stop()
