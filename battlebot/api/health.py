"""Two questions of whoever runs the process: does it live, and can it work."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from battlebot.api.context import current_context

health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """The process lives; nothing else is asked."""
    return jsonify({"status": "ok"})


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """200 where Redis, MongoDB and a worker answer; else 503 and, in a sentence each, which does not."""
    parts = current_context().health()
    ready = all(state == "ok" for state in parts.values())
    return jsonify({"status": "ok" if ready else "unavailable", **parts}), 200 if ready else 503
