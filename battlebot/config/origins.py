"""Which origins may use the server from a browser. An origin is as browsers send it (RFC 6454, section 6.2)."""

from __future__ import annotations

import re

from battlebot.config.settings import Settings, is_loopback, is_private, origins_of

# without a path, and without a slash at the end
ORIGIN = re.compile(r"https?://(?:\[(?P<six>[0-9a-f:]+)\]|(?P<host>[^\s/:@,?#\[\]]+))(?::[0-9]+)?")


def is_allowed(settings: Settings, origin: str) -> bool:
    """Whether the operator has named this origin, or allows all."""
    allowed = origins_of(settings)
    return "*" in allowed or origin.lower() in allowed


def is_own(origin: str) -> bool:
    """Whether the origin is a page on the very machine of the browser: nobody else can have one there."""
    parts = ORIGIN.fullmatch(origin.lower().removesuffix("/"))
    return parts is not None and is_loopback(parts["six"] or parts["host"])


def is_allowed_bot(settings: Settings, origin: str) -> bool:
    """Like `is_allowed`, for bots: their libraries may send an origin on a bot's own machine, to whatever server.

    A bot proves who it is with each connection, so a page on that machine gains nothing that a program there has not.
    """
    return is_allowed(settings, origin) or is_own(origin)


def is_allowed_viewer(settings: Settings, origin: str) -> bool:
    """Like `is_allowed`, for socket.io: a server that only this machine can reach is also for the pages on it.

    The original's viewer is served at another port.
    """
    return is_allowed(settings, origin) or (is_private(settings) and is_own(origin))


def is_rebound(settings: Settings, origin: str) -> bool:
    """Whether a page of `origin` could be this server's own only by DNS rebinding: if only this machine reaches it.

    Such a page is from a name of somebody else's, which was made to resolve to this machine afterwards.
    """
    return is_private(settings) and not is_own(origin)
