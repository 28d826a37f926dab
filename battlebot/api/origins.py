"""Refuses cross-site WebSockets and forms from browsers. Other programs send no Origin header."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Flask, request

from battlebot.config import Settings, is_allowed, is_allowed_viewer
from battlebot.errors import WrongOrigin
from battlebot.wire import cubed

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1
OPENS_NOTHING = frozenset({"OPTIONS"})
# values of Sec-Fetch-Site for a page of another origin: browsers send no Origin with what such a page only has loaded
ELSEWHERE = ("cross-site", "same-site")
UNKNOWN = "null"  # an origin that a browser does not tell (RFC 6454, section 7.3)
SCHEMES = ("http", "https", "ws", "wss")  # no page has the last two: libraries of bots send them
STANDARD_PORT = re.compile(r":(?:80|443)\Z")


Allows = Callable[[Settings, str], bool]


def refuse_other_origins(app: Flask, settings: Settings, otherwise: Allows = is_allowed) -> None:
    """Refuse upgrades and state-changing requests that a browser sends for a page of another origin.

    That is every origin whose host or port differs from the request's, except those that `otherwise` allows (viewers of
    socket.io have a rule of their own). At socket.io's path a GET changes something, too: it opens a session.
    """

    def check() -> None:
        is_viewer = request.path.rstrip("/") == cubed.PATH.rstrip("/")
        allows, harmless = (is_allowed_viewer, OPENS_NOTHING) if is_viewer else (otherwise, SAFE)
        origin = request.headers.get("Origin")
        if origin is None and is_viewer and request.headers.get("Sec-Fetch-Site") in ELSEWHERE:
            origin = UNKNOWN
        if origin is None or allows(settings, origin):
            return
        if request.method in harmless and "Upgrade" not in request.headers:
            return
        if not same_host(origin, request.host):
            raise WrongOrigin("This came from a page of another origin; the operator may allow it (BATTLEBOT_ORIGINS).")

    app.before_request(check)


def same_host(origin: str, host: str) -> bool:
    """Whether `origin` has this `host` (`name[:port]`). The scheme may differ, as a proxy may terminate TLS.

    So may 80, 443 and no port: the original client sends `http://HOST:443` over TLS. The library ws4py sends `ws://HOST`.
    """
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc) and _bare(parts.netloc) == _bare(host.lower())


def _bare(netloc: str) -> str:
    return STANDARD_PORT.sub("", netloc)
