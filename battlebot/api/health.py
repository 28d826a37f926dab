"""Liveness and readiness of the process, for operators and load balancers."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, Response, jsonify

from battlebot.api.context import current_context

health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """Answer that the process is alive; checks nothing else."""
    return jsonify({"status": "ok"})


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Answer 200 if all parts are well; else 503, with a sentence for each failing part, and `since` when."""
    context = current_context()
    parts = context.health()
    ready = all(state == "ok" for state in parts.values())
    since = {part: datetime.fromtimestamp(away_s, UTC) for part, away_s in context.away().items()}
    body = {"status": "ok" if ready else "unavailable", **parts, "since": since}
    return jsonify(body), 200 if ready else 503
