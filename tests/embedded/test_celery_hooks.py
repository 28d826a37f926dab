"""What we add to Celery's processes."""

from __future__ import annotations

import json
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


# what Celery's handler of beat does; beat is told again while Python ends
TWICE = """
import atexit, os, signal, sys
import battlebot.embedded.celery_hooks
from celery.signals import beat_init

def end(*_):
    raise SystemExit

for signum in (signal.SIGTERM, signal.SIGINT):
    signal.signal(signum, end)
beat_init.send(sender=None)
{again}
os.kill(os.getpid(), signal.SIGTERM)
"""
AT_EXIT = "atexit.register(os.kill, os.getpid(), signal.SIGTERM)"
LAST = """
class Last:
    def __del__(self, kill=os.kill, process=os.getpid(), signum=signal.SIGTERM):
        kill(process, signum)

sys.last = Last()  # Python forgets it after its handlers of signals
"""

POOL = """
import os, sys
import battlebot.embedded.celery_hooks
from billiard import Process, util
from celery.signals import setup_logging

os.environ["BATTLEBOT_LOG"] = "json"
setup_logging.send(sender=None)

def fail():
    try:
        raise ValueError("redis://:hunter2@host/ is away")
    except ValueError:
        util.get_logger().error("Pool process error", exc_info=True)
        raise

child = Process(target=fail, name="ForkPoolWorker-1")
child.start()
child.join()
sys.exit(child.exitcode)
"""


POOL_BEGINS = """
import sys
import battlebot.embedded.celery_hooks
from celery import Celery
from celery.concurrency.prefork import process_initializer

process_initializer(Celery("app"), "host")
print("pycparser" in sys.modules)
"""


@pytest.mark.parametrize("again", [AT_EXIT, LAST], ids=["at exit", "at last"])
def test_beat_that_is_told_twice_to_end_ends_without_an_error(again: str) -> None:
    """By make and the system, say; it may end already then, when nobody would catch a second exit."""
    script = TWICE.format(again=again)
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stderr) == (0, "")


def test_what_fails_in_a_pool_is_logged_without_secrets() -> None:
    """Both what a process of it says and what it ends by: billiard would write it to stderr as it is."""
    child = subprocess.run([sys.executable, "-c", POOL], capture_output=True, text=True, timeout=60, check=False)
    said, ended = map(json.loads, child.stderr.splitlines())
    assert (child.returncode, said["event"], ended["event"]) == (1, "Pool process error", "Process ForkPoolWorker-1")
    assert "redis://:***@host/" in said["exception"]
    assert "redis://:***@host/" in ended["exception"]


def test_a_process_of_a_pool_begins_without_a_parser() -> None:
    """billiard would parse a line of C, for what we ask the system in another way."""
    child = subprocess.run([sys.executable, "-c", POOL_BEGINS], capture_output=True, text=True, timeout=60, check=False)
    assert (child.stdout, child.returncode) == ("False\n", 0)


def test_a_worker_does_not_call_root_who_has_a_group_without_a_name() -> None:
    """Celery would, and advise `--uid`, which is no option of ours."""
    child = subprocess.run([sys.executable, "-c", NAMELESS], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for it")
def test_a_pool_child_whose_worker_was_killed_before_it_began_ends() -> None:
    """It would wait for tasks for ever: Celery asks for its end with the worker's, which has been by then."""
    child = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=60, check=False)
    assert (child.stdout, child.stderr) == ("", "")
