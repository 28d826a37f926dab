"""Reads a request's body before it is handled, within a time-out and a limit of size."""

from __future__ import annotations

from typing import Any

import gevent
from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout

from battlebot.config import Settings
from battlebot.runtime.cooperative import yield_to_others

STEP_BYTES = 1024  # of a body in chunks: if each holds a byte, a step takes 7 ms, and all would take half a second


class InSteps:
    """A body in chunks, as a stream: all who have waited meanwhile, above all the bots, go on after each step."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Returns some bytes, `size` at most, or none at the end. Raises like the stream."""
        part: bytes = self._stream.read(min(size, STEP_BYTES))
        yield_to_others()
        return part


def read_body(settings: Settings) -> None:
    """Reads the request's body within a time-out: a client that sends it slowly holds a greenlet and a connection.

    Raises BadRequest, RequestEntityTooLarge, RequestTimeout.
    """
    limit = settings.max_body_bytes
    if request.headers.get("Transfer-Encoding"):
        request.environ["wsgi.input"] = InSteps(request.environ["wsgi.input"])
    elif not request.content_length:
        return
    if (request.content_length or 0) > limit:
        raise RequestEntityTooLarge
    # werkzeug cuts off a body without a length at its limit: one byte more shows that the body is too long
    request.max_content_length = limit + 1
    try:
        with gevent.Timeout(settings.body_timeout_s, RequestTimeout("The request's body did not arrive in time.")):
            body = request.get_data(cache=True)
    except ParseException:
        raise BadRequest("The request's body is not in chunks as HTTP has them.") from None
    if len(body) > limit:
        raise RequestEntityTooLarge
