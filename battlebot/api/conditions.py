"""Requests for a file that was fetched before, on a condition with a date: that it has changed, or has not."""

from __future__ import annotations

from flask import Flask, request
from werkzeug.http import parse_date

CONDITIONS = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_RANGE")


def ignore_impossible_dates(app: Flask) -> None:
    """Have a condition ignored whose date nobody can read, as RFC 9110 says (13.1.3): the answer is the whole file."""
    app.before_request(_ignore)


def _ignore() -> None:
    for name in CONDITIONS:
        try:
            parse_date(request.environ.get(name))
        except (OverflowError, ValueError):
            # of most that is no date it returns that it is none
            for header in (*CONDITIONS, "HTTP_RANGE"):
                request.environ.pop(header, None)
            return
