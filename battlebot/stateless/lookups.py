"""Room for lookups of names: gevent makes each in a thread of its own, and a name server may let any of them hang."""

from __future__ import annotations

import os

import gevent

LOOKUPS = 256  # names looked up at a time, by threads created on demand
RESOLVER = "timeout:2 attempts:2"  # seconds and attempts per name server; resolv.conf(5)


def make_room_for_lookups() -> None:
    """Allows many lookups at a time; call once in a process that asks bots, before the first.

    Keeps an operator's own `RES_OPTIONS`.
    """
    os.environ.setdefault("RES_OPTIONS", RESOLVER)
    # gevent has ten: bots whose names do not resolve could take them all, also from connections to Redis and MongoDB
    gevent.get_hub().threadpool.maxsize = LOOKUPS
