"""Pages while MongoDB or Redis is away: the last version shown, or one without stored data; a note says so."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from flask import current_app, g, render_template, request
from markupsafe import Markup, escape

from battlebot.api.context import current_context
from battlebot.api.origins import host_asked
from battlebot.errors import Unavailable

Seen = TypeVar("Seen")
Kept = OrderedDict[tuple[str, ...], tuple[float, str]]

MOST_KEPT = 100  # pages per node, the most recent
MOST_CHARACTERS = 200_000  # of a kept page
NEVER = (None, "")  # instead of when a page was seen, and the page
NOTE = '<div id="stale"></div>'  # base.html's placeholder for the note
ROOT = Markup("<!--root-->")  # a page's placeholder for this server's address, as its request names it

log = structlog.get_logger()


def page(render: Callable[[], str], all_stored: bool = False, about: tuple[str, ...] = (), keeps: bool = True) -> str:
    """The page that `render` returns; while it cannot, the version shown last, else one without stored data.

    `about` distinguishes pages that share a path. Without `keeps` no version is kept: of some pages there are so many
    that whoever goes through them would push out those that others look at. Raises Unavailable if no version was kept
    and the page is `all_stored`, or `render` needs something that it does not read by `stored`.
    """
    kept: Kept = current_app.extensions.setdefault("battlebot.pages", OrderedDict())
    key = (request.path, *about)
    try:
        if is_away("mongodb"):
            # a query would take seconds and delay what can be shown
            raise Unavailable("MongoDB does not answer now.")
        html = render()
    except Unavailable as error:
        log.warning("page.stale", path=request.path, error=str(error))
        seen_s, html = kept.get(key, NEVER) if keeps else NEVER
        if seen_s is None:
            if all_stored:
                raise
            g.without_stored = True
            html = render()
        part = g.get("lacks", "mongodb")
        note = render_template(
            "_stale.html", seen=_moment(seen_s), part=part, since=_moment(current_context().away().get(part))
        )
        return _addressed(html.replace(NOTE, note, 1))
    if keeps and len(html) <= MOST_CHARACTERS:
        kept[key] = (time.time(), html)
        kept.move_to_end(key)
        if len(kept) > MOST_KEPT:
            kept.popitem(last=False)
    return _addressed(html)


def stored(look: Callable[[], Seen]) -> Seen | None:
    """What `look` reads from MongoDB; None on a page without stored data. Raises Unavailable."""
    return None if without_stored() else look()


def running(look: Callable[[], Seen]) -> Seen:
    """What `look` reads of running matches. Raises Unavailable; the page's note then says that it is they."""
    try:
        if is_away("redis"):
            raise Unavailable("Redis does not answer now.")
        return look()
    except Unavailable:
        g.lacks = "redis"
        raise


def without_stored() -> bool:
    """Whether the page is being rendered without stored data."""
    return bool(g.get("without_stored"))


def is_away(part: str) -> bool:
    """Whether the node already knows that a part ("mongodb", "redis") does not answer."""
    return part in current_context().away()


def _addressed(html: str) -> str:
    return html.replace(ROOT, escape(f"{request.scheme}://{host_asked()}"))


def _moment(epoch_s: float | None) -> datetime | None:
    return None if epoch_s is None else datetime.fromtimestamp(epoch_s, UTC)
