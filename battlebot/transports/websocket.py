"""The WebSocket door: Flask's WebSocket routes, our WebSocket connection, the pump.

The routes have a Flask application of their own: the hooks before and after each request of the API and the pages
(limits, above all) do not concern them, and would take a tenth of a login's time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flask import Flask, Response, request

from battlebot.config import Settings
from battlebot.transports.hijacked import Hijacked
from battlebot.transports.pump import Pump
from battlebot.transports.wsconnection import WebSocket
from battlebot.wire.addresses import household
from battlebot.wire.upgrade import BadUpgrade

PATHS = ("/", "/ws", "/ws/")  # original clients connect to the bare host

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def init_websocket(app: Flask, doorway: Flask, settings: Settings, pump: Pump) -> None:
    """Opens the door at `PATHS`: `app` passes upgrades there to `doorway`, which has no other routes."""

    def converse() -> Response:
        try:
            ws = WebSocket(request.environ, settings, household(request.remote_addr or "unknown"))
        except BadUpgrade as error:
            return Response(f"{error}\n", error.status, error.headers, mimetype="text/plain")
        try:
            pump.converse(ws)
        finally:
            ws.finish()
        return Hijacked()

    for path in PATHS:
        doorway.add_url_rule(path, view_func=converse, websocket=True)
    for path in PATHS[1:]:
        app.add_url_rule(path, view_func=_no_upgrade)
    app.wsgi_app = _divided(app.wsgi_app, doorway)  # type: ignore[assignment, method-assign]


def _divided(other: Application, doorway: Application) -> Application:
    def divide(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        chosen = doorway if environ.get("PATH_INFO") in PATHS and _is_upgrade(environ) else other
        return chosen(environ, start_response)

    return divide


def _is_upgrade(environ: Mapping[str, Any]) -> bool:
    """Returns whether Flask regards the request as a WebSocket's: only then do its WebSocket routes match."""
    tokens = environ.get("HTTP_CONNECTION", "").lower().split(",")
    return environ.get("HTTP_UPGRADE", "").lower() == "websocket" and any(one.strip() == "upgrade" for one in tokens)


def _no_upgrade() -> Response:
    """Answers a request for the WebSockets' own path without an upgrade, for example a browser's."""
    sentence = "This is a WebSocket's address, for bots. Pages for people begin at /.\n"
    return Response(sentence, 426, {"Upgrade": "websocket", "Connection": "Upgrade"}, mimetype="text/plain")
