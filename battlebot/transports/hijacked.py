"""The response to a request whose socket a door has taken over."""

from __future__ import annotations

from typing import Any

from flask import Response


class Hijacked(Response):
    """Makes gunicorn write no response: StopIteration tells it that the socket has been used up."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise StopIteration
