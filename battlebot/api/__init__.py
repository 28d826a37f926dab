"""The REST API: what programs ask over HTTP, always JSON. Pages for people are in `battlebot.web`."""

from __future__ import annotations

from flask import Flask

from battlebot.api.context import CONTEXT_KEY, Context
from battlebot.api.errors import handle_errors
from battlebot.api.headers import add_headers
from battlebot.api.health import health
from battlebot.api.jsonprovider import OrjsonProvider
from battlebot.api.limits import limit_registrations
from battlebot.api.openapi import register_described

__all__ = ["Context", "init_api"]


def init_api(app: Flask, context: Context) -> None:
    """Gives the app the REST paths, JSON by orjson, the error answers and the headers of every answer."""
    app.extensions[CONTEXT_KEY] = context
    app.json = OrjsonProvider(app)
    app.config["MAX_CONTENT_LENGTH"] = context.settings.max_body_bytes
    handle_errors(app)
    add_headers(app)
    limit_registrations(app, context.settings)
    register_described(app)
    app.register_blueprint(health)
