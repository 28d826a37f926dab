"""A process with the TCP door, until a signal ends it. Runs under `gevent.monkey` (see `embedded/commands.py`)."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gevent
from gevent.event import Event

from battlebot.config import Settings, load_settings
from battlebot.embedded.collector import keep_loaded_code
from battlebot.embedded.interrupts import hang_up_is_ignored
from battlebot.embedded.openfiles import allowed_connections, warn_of_few_files
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs
from battlebot.transports.socketio_lean import load_lean_servers


def main() -> None:
    """Open the door; on a signal drain it, so that its players can go to another node at once."""
    settings = load_settings()
    configure_logs(settings)
    log_uncaught()
    allowed = allowed_connections(settings.max_connections)
    warn_of_few_files(allowed, settings.max_connections)
    told = Event()
    ends: Callable[[], object] = sys.exit  # the door may wait for Redis without end before anybody is in

    def end() -> None:
        nonlocal ends
        # told again, it leaves already, and an exit would be raised where nobody expects it
        ends, now = told.set, ends
        now()

    for signum in (signal.SIGTERM, signal.SIGINT, *(() if hang_up_is_ignored() else (signal.SIGHUP,))):
        gevent.signal_handler(signum, end)
    door = make_door(replace(settings, max_connections=allowed))
    door.serve()
    keep_loaded_code()
    ends = told.set
    told.wait()
    door.drain()
    until_s = time.monotonic() + settings.close_timeout_s + 1.0
    while door.connections and time.monotonic() < until_s:
        gevent.sleep(0.02)


def make_door(settings: Settings) -> Any:
    """The door, not open yet, as `app.create_tcp_door` makes it, and with the same errors."""
    load_lean_servers()
    from app import create_tcp_door

    return create_tcp_door(settings)


if __name__ == "__main__":
    main()
