"""The OpenAPI description, at /openapi.json. The page that shows it to people is in `battlebot.web`."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask_smorest import Api

from battlebot.api.schemas import Count, ErrorBody, Flag, Name, Owner, Url

DESCRIBED_KEY = "battlebot.openapi"


class DescribedApi(Api):
    """flask-smorest's API without its error handlers: ours answer all errors."""

    ERROR_SCHEMA = ErrorBody

    def _register_error_handlers(self) -> None:
        return


def describe(app: Flask) -> Api:
    """Serve /openapi.json; returns what describes there each blueprint that is registered with it."""
    app.config.update(
        API_TITLE="Battlebot",
        API_VERSION="1",
        OPENAPI_VERSION="3.0.3",
        OPENAPI_URL_PREFIX="/",
        OPENAPI_JSON_PATH="openapi.json",
    )
    api = DescribedApi(app)
    for field, kind in ((Name, "string"), (Owner, "string"), (Url, "string"), (Flag, "boolean"), (Count, "integer")):
        api.register_field(field, kind, None)
    app.extensions[DESCRIBED_KEY] = api
    return api


def description(app: Flask) -> dict[str, Any]:
    """The OpenAPI document of the app."""
    document: dict[str, Any] = app.extensions[DESCRIBED_KEY].spec.to_dict()
    return document
