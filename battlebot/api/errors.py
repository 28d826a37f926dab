"""Every error answer: `{"error": <sentence>, "code": <slug>, ...}`, or a page on the paths of pages."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

import structlog
from flask import Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException

from battlebot.errors import BattlebotError, NoToken, without_traceback

PAGES_KEY = "battlebot.error_page"  # a function (status, body) -> Response, or None if the path is not a page's

CODES = {
    400: ("bad-request", "This is not a request that the server understands."),
    404: ("not-found", "There is nothing at this address."),
    405: ("method-not-allowed", "This address does not know that method."),
    408: ("too-slow", "The request did not arrive in time."),
    413: ("too-large", "The body is too large."),
    414: ("too-large", "The address is too long."),
    415: ("unsupported-media-type", "The body must be JSON."),
    429: ("too-many", "Too many requests from your address; try again later."),
    431: ("too-large", "The headers are too large."),
    500: ("internal", "The server failed; the fault is ours, and it is in our log."),
    503: ("unavailable", "The server cannot answer now; try again in a moment."),
}
CHALLENGE = 'Bearer realm="battlebot"'  # RFC 6750: organisers' tokens, and bots' passwords where their owners ask
RETRY_S = 2  # how long a client should wait when the server lacks Redis or MongoDB

Error = TypeVar("Error", bound=Exception)

log = structlog.get_logger()


def handle_errors(app: Flask) -> None:
    """Answer every error of the app's requests in our format; no traceback reaches the client."""
    app.register_error_handler(BattlebotError, _forgetting(answer_error))
    app.register_error_handler(HTTPException, _forgetting(_of_http))
    app.register_error_handler(Exception, _forgetting(_of_surprise))


def _forgetting(answered: Callable[[Error], Response]) -> Callable[[Error], Response]:
    """Has the answered error forget its request: the packages keep errors in what these hold in turn."""

    def answer_and_forget(error: Error) -> Response:
        try:
            return answered(error)
        finally:
            without_traceback(error)

    return answer_and_forget


def answer(status: int, body: dict[str, Any]) -> Response:
    """The error answer for this request: a page on the paths of pages, else JSON."""
    page = current_app.extensions.get(PAGES_KEY)
    response: Response | None = page(status, body) if page else None
    if response is None:
        response = jsonify(body)
        response.status_code = status
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(RETRY_S)
    return response


def answer_error(error: BattlebotError) -> Response:
    """The answer to an error of ours; with Retry-After if the error says when to try again."""
    if error.http_status >= 500:
        log.warning("request.failed", path=request.path, code=error.code, error=str(error))
    response = answer(error.http_status, error.as_dict())
    if error.http_status == HTTPStatus.UNAUTHORIZED:
        invalid = "" if isinstance(error, NoToken) else ', error="invalid_token"'
        response.headers["WWW-Authenticate"] = CHALLENGE + invalid
    if "retryAfterS" in error.details:
        response.headers["Retry-After"] = str(error.details["retryAfterS"])
    return response


def _of_http(error: HTTPException) -> Response:
    if isinstance(error.response, Response):
        return error.response
    status = error.code or 500
    code, sentence = CODES.get(status) or (_slug(status), f"{error.name}.")
    response = answer(status, {"error": sentence, "code": code})
    for name, value in error.get_headers():
        if name.lower() in ("allow", "retry-after"):
            response.headers[name] = value
    return response


def _of_surprise(error: Exception) -> Response:
    log.error("request.failed", path=request.path, exc_info=error)
    code, sentence = CODES[500]
    return answer(500, {"error": sentence, "code": code})


def _slug(status: int) -> str:
    try:
        return HTTPStatus(status).phrase.lower().replace(" ", "-").replace("'", "")
    except ValueError:
        return "refused"
