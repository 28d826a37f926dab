"""How kombu waits for Redis among greenlets: not by select, which takes no file descriptor from 1024 on."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from kombu.utils import eventio

_chosen = eventio._get_poller


class Poll(eventio._poll):
    """gevent's poll, which forgets what is closed, as kombu's select does: kombu reconnects in its place."""

    def unregister(self, fd: Any) -> None:
        """Forgets a file or its number; does nothing if it is closed or not known."""
        with suppress(ValueError, KeyError):
            super().unregister(fd)

    def poll(self, timeout: float | None, *others: Any, **named: Any) -> list[tuple[int, int]]:
        """Returns (number, events) of what is ready, after `timeout` seconds at most."""
        ready = []
        for fd, events in super().poll(timeout, *others, **named) or ():
            if is_open(fd):
                ready.append((fd, events))
            else:
                self.unregister(fd)
        return ready


def is_open(fd: int) -> bool:
    """Returns whether there is such a file descriptor."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _unlimited() -> Any:
    """kombu's choice; where that is select, gevent's poll: a node has thousands of connections."""
    chosen = _chosen()
    return Poll if chosen is eventio._select else chosen


def poll_without_limit() -> None:
    """Call before kombu connects."""
    eventio._get_poller = _unlimited
