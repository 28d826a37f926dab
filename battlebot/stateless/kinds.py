"""The kinds of addresses of stateless bots, made by the settings: add a line here for a further kind."""

from __future__ import annotations

from collections.abc import Callable

from battlebot.config import Settings, networks_of
from battlebot.stateless.asking import AddressKind, Askers
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard
from battlebot.stateless.nats.nobody import NoNats


def make_askers(settings: Settings, late_s: Callable[[], float] = lambda: 0.0, keeps: bool = True) -> Askers:
    """Returns the askers for all kinds of addresses.

    `late_s()`: seconds by which this process has been late so far, which are charged to no bot. `keeps`: whether
    connections to bots are kept for the next question; a process that only tests bots, and never calls `tidy`, must
    keep none.
    """
    guard = Guard(bool(settings.bot_loopback), networks_of(settings))
    http = HttpBots(guard, settings.bot_answer_bytes, settings.max_nesting, late_s, keeps)
    return Askers(http, _over_nats(settings, late_s) if settings.nats_url else NoNats())


def _over_nats(settings: Settings, late_s: Callable[[], float]) -> AddressKind:
    # a server without NATS goes without its client, which is large
    from battlebot.stateless.nats.bots import NatsBots
    from battlebot.stateless.nats.line import NatsLine
    from battlebot.stateless.nats.uids import Uids

    most_bytes = settings.bot_answer_bytes
    return NatsBots(NatsLine(settings.nats_url, late_s, most_bytes), Uids(settings.secret_key), most_bytes)
