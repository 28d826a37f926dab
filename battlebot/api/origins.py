"""Which pages may make a browser talk to us: cross-site WebSockets and forms are refused. Programs send no Origin."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, request

from battlebot.config import Settings, origins_of
from battlebot.errors import WrongOrigin

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1
PORTS = {"http": ":80", "https": ":443"}


def refuse_other_origins(app: Flask, settings: Settings) -> None:
    """Refuses upgrades, and requests that change something, that a browser sends for a page from elsewhere.

    Elsewhere is every origin with another host or port than the request's own, but for those in `settings.origins`.
    """
    allowed = origins_of(settings)

    def check() -> None:
        origin = request.headers.get("Origin")
        if origin is None or "*" in allowed or origin.lower() in allowed:
            return
        if request.method in SAFE and "Upgrade" not in request.headers:
            return
        if not same_host(origin, request.host):
            raise WrongOrigin("This came from a page of another origin; the operator may allow it (BATTLEBOT_ORIGINS).")

    app.before_request(check)


def same_host(origin: str, host: str) -> bool:
    """Whether `origin` has this `host` (`name[:port]`). The scheme may differ: TLS may end at a proxy before us."""
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    port = PORTS.get(parts.scheme)
    return port is not None and bool(parts.netloc) and _bare(parts.netloc, port) == _bare(host.lower(), port)


def _bare(netloc: str, port: str) -> str:
    return netloc.removesuffix(port)
