"""Arenas of nodes, for tests in processes whose threads are no greenlets."""

from __future__ import annotations

import threading
from functools import partial

from conductors import Conductor

from battlebot.arena.node.opening import Opening
from battlebot.arena.node.service import Arena
from battlebot.arena.node.turns import Turns
from battlebot.redisio.transactions import TransactionConnection
from battlebot.runtime.lock import Lock
from battlebot.runtime.timers import Timers


def arena_of(conductor: Conductor, timers: Timers | None = None, opening: Opening | None = None) -> Arena:
    """The arena of the conductor's node. Its timers stand, unless some are given; its door is open, likewise."""
    turns = partial(Turns, new_connection=lambda: TransactionConnection(conductor.store.client))
    return Arena(conductor, timers or Timers(), opening or Opening(), turns, thread_lock)


def thread_lock() -> Lock:
    """A lock for threads."""
    return Lock(threading.Semaphore(1), threading.get_ident)
