"""A system whose /dev/shm cannot be written to: a hardened container, a chroot."""

from __future__ import annotations

import subprocess
import sys

import pytest

from battlebot.embedded.semaphores import check_semaphores

NO_SHARED_MEMORY = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro tmpfs /dev/shm && exec "$@"', "sh"]

CHECKS = "from battlebot.embedded.semaphores import check_semaphores as check; check()"
ASKS = "from battlebot.embedded.gunicorn_conf import worker_tmp_dir; print(worker_tmp_dir)"


def without_shared_memory(code: str) -> subprocess.CompletedProcess[str]:
    """Runs the code where /dev/shm is read-only; skips the test where that cannot be had."""
    if subprocess.run([*NO_SHARED_MEMORY, "true"], capture_output=True).returncode:
        pytest.skip("needs root, to mount")
    return subprocess.run([*NO_SHARED_MEMORY, sys.executable, "-c", code], capture_output=True, text=True)


def test_the_operator_is_told_why_no_worker_can_start() -> None:
    """Celery alone would end with a traceback, ten times."""
    check_semaphores()
    sentence = without_shared_memory(CHECKS).stderr.splitlines()[-1]
    assert "No semaphores can be made" in sentence
    assert "Read-only file system" in sentence


def test_a_web_node_does_without() -> None:
    """Its heartbeat file is in the folder of temporary files then."""
    assert without_shared_memory(ASKS).stdout == "None\n"
