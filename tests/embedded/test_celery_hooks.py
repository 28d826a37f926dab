"""What we add to Celery's processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

ORPHAN = """
import os, time
import battlebot.embedded.celery_hooks
from celery.signals import worker_process_init

main = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == main:
    time.sleep(0.01)
worker_process_init.send(sender=None)
print("lives on")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for it")
def test_a_pool_child_whose_worker_was_killed_before_it_began_ends() -> None:
    """It would wait for tasks for ever: Celery asks for its end with the worker's, which has been by then."""
    child = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=60, check=False)
    assert (child.stdout, child.stderr) == ("", "")
