"""What is answered to a request whose socket a door has taken for a conversation of its own."""

from __future__ import annotations

from typing import Any

from flask import Response


class Hijacked(Response):
    """The socket has been used up: gunicorn must write no response, and takes this for its word."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise StopIteration
