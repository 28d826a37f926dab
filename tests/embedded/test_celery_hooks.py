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


# no group has this number; nor need a container's user be known to its system
NAMELESS = """
import os, warnings
import battlebot.embedded.celery_hooks
from celery import Celery

os.getgid = os.getegid = lambda: 4_000_000_000
warnings.simplefilter("error")
Celery("app").Worker(app=Celery("app"), quiet=True).on_before_init(quiet=True)
"""


def test_a_worker_does_not_call_root_who_has_a_group_without_a_name() -> None:
    """Celery would, and advise `--uid`, which is no option of ours."""
    child = subprocess.run([sys.executable, "-c", NAMELESS], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for it")
def test_a_pool_child_whose_worker_was_killed_before_it_began_ends() -> None:
    """It would wait for tasks for ever: Celery asks for its end with the worker's, which has been by then."""
    child = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=60, check=False)
    assert (child.stdout, child.stderr) == ("", "")
