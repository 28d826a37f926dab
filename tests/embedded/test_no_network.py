"""A system without any network, not even the loopback: what runs under `unshare --net` at first."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from cluster import free_port

from battlebot.embedded.address import check_port

NO_NETWORK = ["unshare", "--net"]
CHECKS = "from battlebot.embedded.address import check_port as check; check('127.0.0.1', 3000)"


def test_a_server_that_nobody_could_reach_is_one_clear_line() -> None:
    """It may listen all the same, and would wait for itself."""
    check_port("127.0.0.1", free_port())
    check_port("0.0.0.0", free_port())
    if not shutil.which("unshare") or subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode:
        pytest.skip("needs root, for a network of its own")
    told = subprocess.run([*NO_NETWORK, sys.executable, "-c", CHECKS], capture_output=True, text=True)
    assert "cannot be reached: Network is unreachable. Is the loopback" in told.stderr.splitlines()[-1]
