"""Limits per address on HTTP requests and on registrations of bots.

Registrations are counted in Redis over all nodes; without Redis none is refused. Each node counts requests in its own
memory, because a Redis call per request would cost more than most requests.
"""

from __future__ import annotations

import math
import time

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit

from battlebot.api.errors import answer_error
from battlebot.api.registrations import registrations
from battlebot.api.sender import PROBES, sender
from battlebot.config import Settings
from battlebot.errors import TooMany
from battlebot.runtime.bare import without
from battlebot.runtime.counting import Windows

MINUTE_S = 60.0
TIMEOUT_S = 1  # an unresponsive Redis must not delay registrations for long


def limit_registrations(app: Flask, settings: Settings) -> None:
    """Refuse registrations beyond `settings.registrations_per_hour` per address: 429 with Retry-After."""
    # it loads that as well, where it is installed
    with without("valkey"):
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
        on_breach=_refuse,
    )(registrations)


def limit_requests(app: Flask, settings: Settings) -> None:
    """Refuse requests beyond `settings.requests_per_minute` per address to this node: 429 with Retry-After.

    Bots' connections are limited by number instead, never by frequency: see `transports/limits.py`.
    """
    counts = Windows(settings.requests_per_minute, MINUTE_S)

    def count(*_: object) -> None:
        if request.path not in PROBES and not _is_a_bots():
            wait_s = counts.take(sender())
            if wait_s:
                raise _too_many(wait_s, "Your address asks too much; try again later.")

    # earlier than `before_request`, which is too late for the names in paths that are refused
    app.url_value_preprocessor(count)


def _is_a_bots() -> bool:
    """Whether the request is an upgrade for a WebSocket route; an Upgrade header on other paths does not count."""
    return request.url_rule is not None and bool(request.url_rule.websocket)


def _refuse(limit: RequestLimit) -> Response:
    error = _too_many(limit.window[0] - time.time(), "Your address has registered too many bots; try again later.")
    return answer_error(error)


def _too_many(wait_s: float, sentence: str) -> TooMany:
    return TooMany(sentence, retryAfterS=max(1, math.ceil(wait_s)))


def limits_url(redis_url: str) -> str:
    """The address of Redis in the form that the limiter's library expects."""
    return f"redis+{redis_url}" if redis_url.startswith("unix://") else redis_url
