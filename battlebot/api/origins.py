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
SCHEMES = ("http", "https")
STANDARD_PORT = re.compile(r":(?:80|443)\Z")


Allows = Callable[[Settings, str], bool]


def refuse_other_origins(app: Flask, settings: Settings, otherwise: Allows = is_allowed) -> None:
    """Refuse upgrades and state-changing requests that a browser sends for a page of another origin.

    That is every origin whose host or port differs from the request's, except those that `otherwise` allows (viewers of
    socket.io have a rule of their own).
    """

    def check() -> None:
        origin = request.headers.get("Origin")
        allows = is_allowed_viewer if request.path.rstrip("/") == cubed.PATH.rstrip("/") else otherwise
        if origin is None or allows(settings, origin):
            return
        if request.method in SAFE and "Upgrade" not in request.headers:
            return
        if not same_host(origin, request.host):
            raise WrongOrigin("This came from a page of another origin; the operator may allow it (BATTLEBOT_ORIGINS).")

    app.before_request(check)


def same_host(origin: str, host: str) -> bool:
    """Whether `origin` has this `host` (`name[:port]`). The scheme may differ, as a proxy may terminate TLS.

    So may 80, 443 and no port: the original client sends `http://HOST:443` over TLS.
    """
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc) and _bare(parts.netloc) == _bare(host.lower())


def _bare(netloc: str) -> str:
    return STANDARD_PORT.sub("", netloc)
