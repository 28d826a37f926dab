"""Stateless bots: a worker asks them at an address, one question per turn. The arena makes the questions."""

from __future__ import annotations

from collections.abc import Callable

from battlebot.config import Settings, networks_of
from battlebot.stateless.asking import Askers
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard
from battlebot.stateless.nats.bots import NatsBots
from battlebot.stateless.nats.line import NatsLine
from battlebot.stateless.nats.uids import Uids

__all__ = ["make_askers"]


def make_askers(settings: Settings, late_s: Callable[[], float] = lambda: 0.0, keeps: bool = True) -> Askers:
    """Returns the askers for all kinds of addresses; add a line here for a further kind.

    `late_s()`: seconds by which this process has been late so far, which are charged to no bot. `keeps`: whether
    connections to bots are kept for the next question; a process that only tests bots, and never calls `tidy`, must
    keep none.
    """
    guard = Guard(bool(settings.bot_loopback), networks_of(settings))
    most_bytes = settings.bot_answer_bytes
    line = NatsLine(settings.nats_url, late_s, most_bytes) if settings.nats_url else None
    uids = Uids(settings.secret_key) if settings.nats_url else None
    http = HttpBots(guard, most_bytes, settings.max_nesting, late_s, keeps)
    return Askers(http, NatsBots(line, uids, most_bytes))
