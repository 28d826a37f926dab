"""How kombu waits for Redis among greenlets: not by select, which takes no file descriptor from 1024 on."""

from __future__ import annotations

from typing import Any

from kombu.utils import eventio

_chosen = eventio._get_poller


def _unlimited() -> Any:
    """kombu's choice; where that is select, gevent's poll: a node has thousands of connections."""
    chosen = _chosen()
    return eventio._poll if chosen is eventio._select and eventio.xpoll else chosen


def poll_without_limit() -> None:
    """Call before kombu connects."""
    eventio._get_poller = _unlimited
