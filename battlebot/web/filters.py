"""The formats of times, durations, turns and names in the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
from flask import Flask
from markupsafe import Markup, escape

from battlebot.api.jsonprovider import iso

LONGEST_TURN = 160  # characters of a turn shown; the JSON has all of it


def register(app: Flask) -> None:
    """Register the filters for the app's templates."""
    for function in (moment, machine_moment, short_json, plural, duration, with_names, isolated, without_title):
        app.add_template_filter(function)


def as_datetime(value: Any) -> datetime | None:
    """Convert a datetime, ms since the epoch, or ISO 8601 text to a datetime; None for anything else."""
    try:
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
        return as_datetime(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def moment(value: Any) -> str:
    """Format like `2026-11-21 10:25:03`, in UTC; `unknown` if the value is not a time."""
    at = as_datetime(value)
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if at else "unknown"


def machine_moment(value: Any) -> str:
    """ISO 8601 for HTML's `datetime` attribute; empty if the value is not a time."""
    at = as_datetime(value)
    return iso(at) if at else ""


def span(first: Any, last: Any) -> str:
    """The time between two moments: `0.412 s`, `12.3 s`, `3 min 20 s`; empty if either is unknown."""
    begin, end = as_datetime(first), as_datetime(last)
    if begin is None or end is None:
        return ""
    return duration(max(0.0, (end - begin).total_seconds()))


def duration(seconds: float) -> str:
    """Format seconds as `span` does."""
    if seconds < 60:
        return f"{seconds:.3f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def short_json(value: Any) -> str:
    """A value as JSON on one line, cut after LONGEST_TURN characters."""
    text = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= LONGEST_TURN else text[:LONGEST_TURN] + " …"


def without_title(text: str, title: str) -> str:
    """A game's text, to be shown below its title: `Nim: take one.` is `Take one.` there."""
    start = f"{title}:"
    rest = text[len(start) :].lstrip() if text.lower().startswith(start.lower()) else text
    return rest[:1].upper() + rest[1:]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 match`, `2 matches`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def with_names(text: str, names: Iterable[str]) -> Markup:
    """The text as HTML, each of the names in <bdi>: one written from right to left does not move its neighbours."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    if not longest_first:
        return escape(text)
    parts = re.split(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?!\w)", text)
    bdi = Markup("<bdi>{}</bdi>")
    return Markup("").join(bdi.format(part) if index % 2 else part for index, part in enumerate(parts))


def isolated(name: str) -> str:
    """The name as plain text, for attributes: what <bdi> is in HTML."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"
