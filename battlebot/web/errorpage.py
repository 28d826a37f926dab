"""The error page, for the paths of pages."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response, make_response, render_template, request
from werkzeug.exceptions import BadHost


def error_page(status: int, body: dict[str, Any]) -> Response | None:
    """The error page, or None if the path is for programs; so are streams, because a page's script reads them.

    None as well if the request names a host that cannot be: Flask then makes no addresses, of which the page has some.
    """
    path = request.path
    is_page = path in ("/", "/docs") or path == "/web" or path.startswith(("/web/", "/docs/", "/assets/"))
    if not is_page or path.endswith(("/events", "/story")) or isinstance(request.routing_exception, BadHost):
        return None
    try:
        title = HTTPStatus(status).phrase
    except ValueError:
        title = "Error"
    return make_response(render_template("error.html", status=status, title=title, body=body), status)
