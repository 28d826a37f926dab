"""Two questions of whoever runs the process: does it live, and can it work."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, Response, jsonify

from battlebot.api.context import current_context

health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """The process lives; nothing else is asked."""
    return jsonify({"status": "ok"})


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """200 where all parts are well; else 503 and, in a sentence each, which is not, and since when (`since`)."""
    context = current_context()
    parts = context.health()
    ready = all(state == "ok" for state in parts.values())
    since = {part: datetime.fromtimestamp(away_s, UTC) for part, away_s in context.away().items()}
    body = {"status": "ok" if ready else "unavailable", **parts, "since": since}
    return jsonify(body), 200 if ready else 503
