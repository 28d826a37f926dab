"""Limits per address on HTTP requests and on registrations of bots.

Registrations are counted in Redis over all nodes; without Redis none is refused. Each node counts requests in its own
memory, because a Redis call per request would cost more than most requests.
"""

from __future__ import annotations

import math
import time

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from flask_limiter.util import get_remote_address

from battlebot.api.errors import answer
from battlebot.api.registrations import registrations
from battlebot.config import Settings
from battlebot.errors import TooMany
from battlebot.wire.addresses import household

TIMEOUT_S = 1  # an unresponsive Redis must not delay registrations for long
PROBES = ("/healthz", "/readyz")  # cheap requests of load balancers and monitors


def limit_registrations(app: Flask, settings: Settings) -> None:
    """Refuse registrations beyond `settings.registrations_per_hour` per address: 429 with Retry-After."""
    limiter = Limiter(
        sender,
        app=app,
        storage_uri=limits_url(settings.redis_url),
        storage_options={"socket_connect_timeout": TIMEOUT_S, "socket_timeout": TIMEOUT_S},
        strategy="fixed-window",
        key_prefix="bb:limits",
        swallow_errors=True,
    )
    limiter.shared_limit(
        f"{settings.registrations_per_hour} per hour",
        scope="registrations",
        methods=["POST"],
        on_breach=lambda limit: _refuse(limit, "Your address has registered too many bots; try again later."),
    )(registrations)


def limit_requests(app: Flask, settings: Settings) -> None:
    """Refuse requests beyond `settings.requests_per_minute` per address to this node: 429 with Retry-After.

    Bots' connections are limited by number instead, never by frequency: see `transports/limits.py`.
    """
    limiter = Limiter(
        sender,
        app=app,
        storage_uri="memory://",
        strategy="fixed-window",
        key_prefix="requests",
        application_limits=[f"{settings.requests_per_minute} per minute"],
        on_breach=lambda limit: _refuse(limit, "Your address asks too much; try again later."),
    )
    limiter.request_filter(lambda: request.path in PROBES or _is_a_bots())


def _is_a_bots() -> bool:
    """Whether the request is an upgrade for a WebSocket route; an Upgrade header on other paths does not count."""
    return request.url_rule is not None and bool(request.url_rule.websocket)


def _refuse(limit: RequestLimit, sentence: str) -> Response:
    wait_s = max(1, math.ceil(limit.window[0] - time.time()))
    error = TooMany(sentence, retryAfterS=wait_s)
    response = answer(error.http_status, error.as_dict())
    response.headers["Retry-After"] = str(wait_s)
    return response


def sender() -> str:
    """The key under which a request is counted."""
    return household(get_remote_address()) or "local"


def limits_url(redis_url: str) -> str:
    """The address of Redis in the form that the limiter's library expects."""
    return f"redis+{redis_url}" if redis_url.startswith("unix://") else redis_url
