"""Which origins may use the server from a browser. An origin is as browsers send it (RFC 6454, section 6.2)."""

from __future__ import annotations

import re

from battlebot.config.settings import Settings, is_private, origins_of

# the hosts that are this machine for a browser on it; nobody else can have a page there
OWN = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?")


def is_allowed(settings: Settings, origin: str) -> bool:
    """Whether the operator has named this origin, or allows all."""
    allowed = origins_of(settings)
    return "*" in allowed or origin.lower() in allowed


def is_allowed_viewer(settings: Settings, origin: str) -> bool:
    """Like `is_allowed`, for socket.io: a server that only this machine can reach is also for the pages on it.

    The original's viewer is served at another port.
    """
    return is_allowed(settings, origin) or (is_private(settings) and OWN.fullmatch(origin.lower()) is not None)
