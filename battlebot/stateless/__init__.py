"""Stateless bots: asked at an address by a worker, one question a turn. What they are asked is made by the arena."""

from __future__ import annotations

from collections.abc import Callable

from battlebot.config import Settings, networks_of
from battlebot.stateless.asking import Askers
from battlebot.stateless.guard import Guard
from battlebot.stateless.http import HttpBots
from battlebot.stateless.nats import NatsBots
from battlebot.stateless.natsline import NatsLine
from battlebot.stateless.uids import Uids

__all__ = ["make_askers"]


def make_askers(settings: Settings, late_s: Callable[[], float] = lambda: 0.0, keeps: bool = True) -> Askers:
    """All kinds of addresses that this server can ask; a further kind is a further line here.

    `late_s()`: by how many seconds this process has been late so far, which is charged to no bot. `keeps`: whether
    connections to bots are kept for the next question; who only tests bots, and calls no `tidy`, is to keep none.
    """
    guard = Guard(settings.bot_loopback, networks_of(settings))
    most_bytes = settings.bot_answer_bytes
    line = NatsLine(settings.nats_url, late_s, settings.bot_answer_bytes) if settings.nats_url else None
    uids = Uids(settings.secret_key) if settings.nats_url else None
    http = HttpBots(guard, most_bytes, settings.max_nesting, late_s, keeps)
    return Askers(http, NatsBots(line, uids, most_bytes))
