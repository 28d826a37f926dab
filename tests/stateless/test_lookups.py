"""Lookups that nobody answers, in a process with greenlets of its own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from gevent import monkey
monkey.patch_all()
import os, socket, gevent
from battlebot.stateless.stretch import make_room_for_lookups
make_room_for_lookups()
lock = monkey.get_original("_thread", "allocate_lock")()
lock.acquire()
pool = gevent.get_hub().threadpool
def hang():
    lock.acquire()
    lock.release()
try:
    with gevent.Timeout(20):
        for _ in range(64):
            pool.spawn(hang)
        socket.getaddrinfo("localhost", 80)
finally:
    lock.release()
print(os.environ["RES_OPTIONS"])
"""


def test_a_match_of_names_that_nobody_answers_for_keeps_no_other_waiting() -> None:
    """64 lookups hang; the next is answered."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "timeout:2 attempts:2"
