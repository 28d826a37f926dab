"""What is forked from a process that has loaded the code already is as what is started: output, status, environment."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import wait_for
from zygote import Zygote, run

SLEEP = ["timeit", "-n1", "-r1", "import time; time.sleep(60)"]


@pytest.fixture(scope="module")
def plain() -> Iterator[Zygote]:
    """One of the tests' own."""
    made = Zygote("plain")
    yield made
    made.end()


def test_a_command_has_its_own_environment_folder_output_and_status(tmp_path: Path) -> None:
    """As many as are run, one after another."""
    (tmp_path / ".env").write_text("BATTLEBOT_PORT=4567\n")
    told = run(["settings"], {**os.environ, "BATTLEBOT_TURN_TIMEOUT_MS": "1234"}, tmp_path)
    assert told.returncode == 0
    assert "4567" in told.stdout
    assert "1234" in told.stdout
    refused = run(["settings"], {**os.environ, "BATTLEBOT_PORT": "x"}, tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("battlebot: ")


def test_it_leads_a_group_of_its_own_and_tells_how_it_ended(plain: Zygote, tmp_path: Path) -> None:
    """By a signal, too."""
    one, other = (plain.fork(SLEEP, os.environ, tmp_path, tmp_path / "out", tmp_path / "out") for _ in range(2))
    wait_for(lambda: os.getpgid(one.pid) == one.pid, "a group of its own")
    assert (one.poll(), other.poll()) == (None, None)
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(0.1)
    other.terminate()
    assert (other.wait(30), one.poll()) == (-signal.SIGTERM, None)
    one.kill()
    assert one.wait(30) == -signal.SIGKILL
    one.kill()  # nobody


def test_what_is_forked_ends_with_what_it_was_forked_from(tmp_path: Path) -> None:
    """Nothing of a test run that is killed goes on."""
    made = Zygote("plain")
    forked = made.fork(SLEEP, os.environ, tmp_path, tmp_path / "out", tmp_path / "out")
    wait_for(lambda: os.getpgid(forked.pid) == forked.pid, "a group of its own")
    made.end()

    def gone() -> bool:
        try:
            return Path(f"/proc/{forked.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_for(gone, "its end")
