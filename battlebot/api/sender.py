"""Who a request comes from, for limits, and which requests are not limited."""

from __future__ import annotations

from flask import request

from battlebot.wire.addresses import household

PROBES = ("/healthz", "/readyz")  # cheap requests of load balancers and monitors


def sender() -> str:
    """The key under which a request is counted: its address, or the network of it."""
    return household(request.remote_addr or "unknown")
