"""The WebSocket door: flask-sock's form of a route, with our connection and our answer in it; the pump.

The routes have a Flask application of their own: the hooks before and after each request of the API and the pages
(limits, above all) do not concern them, and would take a tenth of a login's time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Response, request
from flask_sock import Sock

from battlebot.config import Settings
from battlebot.transports.hijacked import Hijacked
from battlebot.transports.pump import Pump
from battlebot.transports.wsconnection import WebSocket
from battlebot.wire.addresses import household
from battlebot.wire.upgrade import OFFER, BadUpgrade, is_upgrade

PATHS = ("/", "/ws", "/ws/")  # original clients connect to the bare host

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Door(Sock):
    """flask-sock, but for the body of its `route`, which makes simple-websocket's connection: here it makes ours."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._settings = settings
        super().__init__(app)

    def route(self, path: str) -> Callable[..., Any]:
        """Like flask_sock.Sock.route on its application, but passes the handler a `WebSocket`, and has no options."""

        def decorator(handler: Callable[[WebSocket], None]) -> Callable[..., Any]:
            def on_upgrade() -> Response:
                try:
                    address = household(request.remote_addr or "unknown")
                    ws = WebSocket(request.environ, self._settings, address)
                except BadUpgrade as error:
                    return Response(f"{error}\n", error.status, error.headers, mimetype="text/plain")
                try:
                    handler(ws)
                finally:
                    ws.finish()
                return Hijacked()

            on_upgrade.__name__ = f"{handler.__name__}_{len(path)}"
            return self.app.route(path, websocket=True)(on_upgrade)

        return decorator


def init_websocket(app: Flask, doorway: Flask, settings: Settings, pump: Pump) -> None:
    """Opens the door at `PATHS`: `app` passes upgrades there to `doorway`, which has no other routes."""
    door = Door(doorway, settings)
    for path in PATHS:
        door.route(path)(pump.converse)
    for path in PATHS[1:]:
        app.add_url_rule(path, f"no_upgrade_{len(path)}", _no_upgrade)
    app.wsgi_app = _divided(app.wsgi_app, doorway)  # type: ignore[assignment, method-assign]


def _divided(other: Application, doorway: Application) -> Application:
    def divide(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # only then do Flask's WebSocket routes match
        chosen = doorway if environ.get("PATH_INFO") in PATHS and is_upgrade(environ) else other
        return chosen(environ, start_response)

    return divide


def _no_upgrade() -> Response:
    """Answers a request for the WebSockets' own path without an upgrade, for example a browser's."""
    sentence = "This is a WebSocket's address, for bots. Pages for people begin at /.\n"
    return Response(sentence, 426, OFFER, mimetype="text/plain")
