"""Refuses cross-site WebSockets and forms from browsers. Other programs send no Origin header."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import structlog
from flask import Flask, request

from battlebot.config import Settings, is_allowed, is_allowed_bot, is_allowed_viewer, is_rebound
from battlebot.errors import WrongOrigin
from battlebot.runtime.loglimit import LogLimit
from battlebot.wire import cubed

log = structlog.get_logger()

may_tell = LogLimit()

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1
OPENS_NOTHING = frozenset({"OPTIONS"})
# values of Sec-Fetch-Site for a page of another origin: browsers send no Origin with what such a page only has loaded
ELSEWHERE = ("cross-site", "same-site")
UNKNOWN = "null"  # an origin that a browser does not tell (RFC 6454, section 7.3)
REBOUND = (
    "This server listens for its own machine only, and takes nothing under another name. If a proxy makes it known"
    " under this one, the operator must set BATTLEBOT_TRUSTED_PROXIES, or name the origin in BATTLEBOT_ORIGINS."
)
SCHEMES = ("http", "https", "ws", "wss")  # no page has the last two: libraries of bots send them
STANDARD_PORT = re.compile(r":(?:80|443)\Z")


def refuse_other_origins(app: Flask, settings: Settings, for_bots: bool = False) -> None:
    """Refuse upgrades and state-changing requests that a browser sends for a page of another origin.

    That is every origin whose host or port differs from the request's, or that only got this server's address by DNS
    rebinding, except those that are allowed: by a rule of their own for viewers of socket.io, and for bots
    (`for_bots`), who log in, whatever the name. At socket.io's path a GET changes something, too: it opens a session.
    """
    of_others = is_allowed_bot if for_bots else is_allowed

    def check() -> None:
        is_viewer = request.path.rstrip("/") == cubed.PATH.rstrip("/")
        allows, harmless = (is_allowed_viewer, OPENS_NOTHING) if is_viewer else (of_others, SAFE)
        origin = request.headers.get("Origin")
        if origin is None and is_viewer:
            origin = _untold(settings)
        if origin is None or allows(settings, origin):
            return
        if request.method in harmless and "Upgrade" not in request.headers:
            return
        if not same_host(origin, host_asked()):
            _refuse(origin, "This came from a page of another origin; the operator may allow it (BATTLEBOT_ORIGINS).")
        if not for_bots and is_rebound(settings, origin):
            _refuse(origin, REBOUND)

    app.before_request(check)


def _untold(settings: Settings) -> str | None:
    """Returns the origin of a request without one; None if it changes nothing, whoever sends it.

    A page's GET to its own server has none, and tells its name only by `Host`: a server for this machine alone knows
    which names are its own. A browser's upgrade always has one.
    """
    if request.headers.get("Sec-Fetch-Site") in ELSEWHERE:
        return UNKNOWN
    if "Upgrade" in request.headers:
        return None
    origins = [f"{scheme}://{host_asked()}" for scheme in ("http", "https")]
    if not is_rebound(settings, origins[0]) or any(is_allowed(settings, origin) for origin in origins):
        return None
    return origins[0]


def _refuse(origin: str, sentence: str) -> None:
    """Refuse a request, and say so in the log now and then: a proxy that is not set up may be the reason."""
    if may_tell(sentence):
        log.warning("origin.refused", origin=origin, host=host_asked(), path=request.path, reason=sentence)
    raise WrongOrigin(sentence)


def host_asked() -> str:
    """Returns the host that the request names, also one with `_`, as Docker's names may have: Flask leaves it out."""
    return request.host or request.headers.get("Host", "")


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
