"""The REST API: HTTP for programs, answered in JSON. Pages for people are in `battlebot.web`."""

from __future__ import annotations

from flask import Flask

from battlebot.api.concurrency import limit_concurrency
from battlebot.api.conditions import ignore_impossible_dates
from battlebot.api.contests import contests
from battlebot.api.context import CONTEXT_KEY, Context
from battlebot.api.errors import handle_errors
from battlebot.api.exports import exports
from battlebot.api.headers import add_headers
from battlebot.api.health import health
from battlebot.api.jsonprovider import OrjsonProvider
from battlebot.api.limits import limit_registrations, limit_requests
from battlebot.api.livematches import livematches
from battlebot.api.openapi import describe
from battlebot.api.organising import organising
from battlebot.api.origins import refuse_other_origins
from battlebot.api.players import players
from battlebot.api.progress import progress
from battlebot.api.ratings import ratings
from battlebot.api.reading import reading
from battlebot.api.registrations import registrations
from battlebot.api.statelessbots import statelessbots
from battlebot.api.tokens import PASSWORD_SCHEME, SCHEME
from battlebot.api.unread import limit_unread

__all__ = ["Context", "init_api"]

# in the order in which the description has them
BLUEPRINTS = (
    *(registrations, reading, statelessbots, ratings, players, livematches),
    *(contests, organising, exports, progress, health),
)


def init_api(app: Flask, context: Context) -> None:
    """Register the REST paths, the orjson provider, the error answers, the limits and the common headers."""
    app.extensions[CONTEXT_KEY] = context
    app.json = OrjsonProvider(app)
    app.url_map.strict_slashes = False  # a slash at the end changes nothing, as on the original server
    app.url_map.merge_slashes = False  # a doubled slash gives a 404 in JSON, not a redirect page
    app.config["MAX_CONTENT_LENGTH"] = context.settings.max_body_bytes
    handle_errors(app)
    add_headers(app)
    ignore_impossible_dates(app)
    limit_requests(app, context.settings)
    refuse_other_origins(app, context.settings)
    limit_registrations(app, context.settings)
    limit_concurrency(app)
    limit_unread(app)
    described = describe(app)
    for scheme in (SCHEME, PASSWORD_SCHEME):
        described.spec.components.security_scheme(scheme, {"type": "http", "scheme": "bearer"})
    for blueprint in BLUEPRINTS:
        described.register_blueprint(blueprint)
