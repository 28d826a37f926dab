"""A process with the TCP door, until SIGTERM or Ctrl-C. Runs under `gevent.monkey` (see `embedded/commands.py`)."""

from __future__ import annotations

import resource
import signal
import time

import gevent
from gevent.event import Event

from app import create_tcp_door
from battlebot.config import load_settings
from battlebot.logs import configure_logs


def main() -> None:
    """Open the door; on a signal drain it, so that its players can go to another node at once."""
    settings = load_settings()
    configure_logs(settings)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    told = Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        gevent.signal_handler(signum, told.set)
    door = create_tcp_door(settings)
    door.serve()
    told.wait()
    door.drain()
    until_s = time.monotonic() + settings.close_timeout_s + 1.0
    while door.connections and time.monotonic() < until_s:
        gevent.sleep(0.02)


if __name__ == "__main__":
    main()
