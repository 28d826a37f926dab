"""kombu in a process that has many connections."""

from __future__ import annotations

import subprocess
import sys

# in a process of its own, as gevent changes it
WAITS = """
from gevent import monkey
monkey.patch_all()
import fcntl, os
from kombu.utils import eventio
from battlebot.config import load_settings
from tasks.celeryapp import make_celery
make_celery(load_settings({}, None, redis_url="redis://localhost"))
end, other = os.pipe()
high = fcntl.fcntl(end, fcntl.F_DUPFD, 1024)
poller = eventio.poll()
poller.register(high, eventio.READ)
assert not poller.poll(0.01)
os.write(other, b"x")
assert poller.poll(10) == [(high, eventio.READ)]
"""


def test_among_greenlets_it_waits_for_any_file_descriptor() -> None:
    """A node with more than a thousand connections said that no worker answers, and so that it is not ready."""
    subprocess.run([sys.executable, "-c", WAITS], check=True)
