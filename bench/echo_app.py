"""The measure of all figures: a plain flask-sock echo, with nothing of Battlebot in it."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask_sock import Sock

application = Flask(__name__)
sock = Sock(application)


@sock.route("/")
def echo(ws: Any) -> None:
    """Sends each message back until the peer leaves, which raises."""
    while True:
        ws.send(ws.receive())
