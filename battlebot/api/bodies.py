"""Reads a request's body before it is handled, within a time-out and a limit of size."""

from __future__ import annotations

import gevent
from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout

from battlebot.config import Settings


def read_body(settings: Settings) -> None:
    """Reads the request's body within a time-out: a client that sends it slowly holds a greenlet and a connection.

    Raises BadRequest, RequestEntityTooLarge, RequestTimeout.
    """
    limit = settings.max_body_bytes
    if not (request.content_length or request.headers.get("Transfer-Encoding")):
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
    if len(body) < (request.content_length or 0):
        # its client has gone, or sends no more: nobody knows what the rest would have said
        raise BadRequest("The request's body ended before its length.")
