"""kombu in a process that has many connections."""

from __future__ import annotations

import subprocess
import sys

from battlebot.config import Settings

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


RECONNECTS = """
import socket, sys
from gevent import monkey
monkey.patch_all()
import kombu
from battlebot.config import load_settings
from tasks.celeryapp import broker_url, make_celery
from tasks.polling import Poll
make_celery(load_settings({}, None, redis_url=sys.argv[1]))
connection = kombu.Connection(broker_url(sys.argv[1]))
queue, came = kombu.Queue("q", kombu.Exchange("q"), routing_key="q"), []
consumer = connection.Consumer([queue], callbacks=[lambda body, message: came.append(body)])
consumer.consume()

def drain():
    try:
        connection.drain_events(timeout=1)
    except socket.timeout:
        pass

drain()
assert isinstance(connection.transport.cycle.poller, Poll)
consumer.channel.client.connection.disconnect()
connection.clone().Producer().publish("x", exchange="q", routing_key="q")
for _ in range(30):
    if not came:
        drain()
assert came == ["x"]
"""


def test_a_connection_that_is_closed_is_replaced_in_its_place(settings: Settings) -> None:
    """As kombu closes it if Redis is silent: a worker would begin anew, and drop the tasks that it holds."""
    subprocess.run([sys.executable, "-c", RECONNECTS, settings.redis_url], check=True)
