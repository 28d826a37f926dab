"""How often one address may register bots. Counted in Redis over all nodes; without Redis nobody is refused."""

from __future__ import annotations

import ipaddress
import math
import time

from flask import Flask, Response
from flask_limiter import Limiter, RequestLimit
from flask_limiter.util import get_remote_address

from battlebot.api.errors import answer
from battlebot.api.registrations import registrations
from battlebot.config import Settings
from battlebot.errors import TooMany

TIMEOUT_S = 1  # a Redis that does not answer must not hold up registrations for long


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
        f"{settings.registrations_per_hour} per hour", scope="registrations", methods=["POST"], on_breach=_refuse
    )(registrations)


def _refuse(limit: RequestLimit) -> Response:
    wait_s = max(1, math.ceil(limit.window[0] - time.time()))
    error = TooMany("Your address has registered too many bots; try again later.", retryAfterS=wait_s)
    response = answer(error.http_status, error.as_dict())
    response.headers["Retry-After"] = str(wait_s)
    return response


def sender() -> str:
    """Whom a request counts for: its address, of IPv6 the network of 64 bits that one household has."""
    address = get_remote_address()
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address or "local"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address


def limits_url(redis_url: str) -> str:
    """Our address of Redis in the form that the limiter's library knows."""
    return f"redis+{redis_url}" if redis_url.startswith("unix://") else redis_url
