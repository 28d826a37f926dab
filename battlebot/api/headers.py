"""The headers of every answer: what a browser may do with it, and which origins may read it."""

from __future__ import annotations

from flask import Flask, Response, request

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)


FOR_ALL = {"application/json", "text/event-stream"}  # without cookies and secrets, so that any page may read them


def add_headers(app: Flask) -> None:
    """Add the headers to all of the app's answers, errors included."""
    app.after_request(_with_headers)


def _with_headers(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
    if "Authorization" in request.headers:
        # it may be for the owner of a bot only, or for organisers
        response.headers["Cache-Control"] = "no-store"
    if request.method in ("GET", "HEAD") and response.mimetype in FOR_ALL:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "Link, Retry-After"
        response.headers.setdefault("Cache-Control", "no-cache")
    return response
