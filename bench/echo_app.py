"""The yardstick for all figures: a plain flask-sock echo without any of Battlebot's code."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask_sock import Sock

application = Flask(__name__)
sock = Sock(application)


@sock.route("/")
def echo(ws: Any) -> None:
    """Send each message back, until the peer leaves and `receive` raises."""
    while True:
        ws.send(ws.receive())
