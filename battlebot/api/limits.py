"""How much one address may ask over HTTP, and how many bots it may register.

Registrations are counted in Redis over all nodes; without Redis nobody is refused. Requests are counted by each node in
its memory: a look into Redis for each would cost more than most of them do.
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

TIMEOUT_S = 1  # a Redis that does not answer must not hold up registrations for long
PROBES = ("/healthz", "/readyz")  # asked by load balancers and monitors, and cheap


def limit_registrations(app: Flask, settings: Settings) -> None:
    """Refuses registrations beyond `settings.registrations_per_hour` of one address: 429 with Retry-After."""
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
    """Refuses requests beyond `settings.requests_per_minute` of one address to this node: 429 with Retry-After.

    Bots' connections are limited by number instead, and never refused for coming too often: see `transports/limits.py`.
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
    """Whether this is an upgrade for the bots' door; a header that says so elsewhere makes it none."""
    return request.url_rule is not None and bool(request.url_rule.websocket)


def _refuse(limit: RequestLimit, sentence: str) -> Response:
    wait_s = max(1, math.ceil(limit.window[0] - time.time()))
    error = TooMany(sentence, retryAfterS=wait_s)
    response = answer(error.http_status, error.as_dict())
    response.headers["Retry-After"] = str(wait_s)
    return response


def sender() -> str:
    """Whom a request counts for."""
    return household(get_remote_address()) or "local"


def limits_url(redis_url: str) -> str:
    """Our address of Redis in the form that the limiter's library knows."""
    return f"redis+{redis_url}" if redis_url.startswith("unix://") else redis_url
