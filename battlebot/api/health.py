"""Liveness and readiness of the process, for operators and load balancers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from marshmallow import fields

from battlebot.api.context import current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import AsItIs

health = Described("health", __name__, asks_stores=False, description="Whether the server works")


class Alive(AsItIs):
    """The process answers."""

    status = fields.String(required=True, metadata={"enum": ["ok"]})


class Readiness(AsItIs):
    """The parts: `ok`, or a sentence that says what is wrong."""

    status = fields.String(required=True, metadata={"enum": ["ok", "unavailable"]})
    redis = fields.String()
    writes = fields.String(metadata={"description": "whether Redis takes a write"})
    clock = fields.String(metadata={"description": "whether this node's clock agrees with Redis's"})
    mongodb = fields.String()
    disk = fields.String(metadata={"description": "whether MongoDB's disk has room"})
    worker = fields.String()
    sweep = fields.String(
        metadata={"description": "whether one was made lately, and could look after every live match"}
    )
    tasks = fields.String(metadata={"description": "whether none waits for long"})
    games = fields.String(metadata={"description": "whether workers could load them"})
    since = fields.Dict(required=True, metadata={"description": "when parts that do not answer were missed"})


@health.get("/healthz")
@health.response(200, Alive)
def healthz() -> dict[str, Any]:
    """Whether the process is alive; checks nothing else"""
    return {"status": "ok"}


@health.get("/readyz")
@health.response(200, Readiness)
@health.alt_response(503, schema=Readiness)
def readyz() -> tuple[dict[str, Any], int]:
    """Whether all parts are well

    Otherwise 503, with a sentence for each failing part, and `since` when.
    """
    context = current_context()
    parts = context.health()
    ready = all(state == "ok" for state in parts.values())
    since = {part: datetime.fromtimestamp(away_s, UTC) for part, away_s in context.away().items()}
    return {"status": "ok" if ready else "unavailable", **parts, "since": since}, 200 if ready else 503
