"""Pages while MongoDB is away: shown as they were last seen, or without what it keeps, with a note that says so."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from flask import current_app, g, render_template, request

from battlebot.api.context import current_context
from battlebot.errors import Unavailable

Seen = TypeVar("Seen")
Kept = OrderedDict[tuple[str, str, str], tuple[float, str]]

MOST_KEPT = 100  # pages of a node, the latest
MOST_CHARACTERS = 200_000  # of a page that is kept
NOTE = '<div id="stale"></div>'  # where base.html has room for the note

log = structlog.get_logger(__name__)


def page(render: Callable[[], str], all_stored: bool = False, about: str = "") -> str:
    """The page that `render` makes; without MongoDB as it was last seen, else without what MongoDB keeps.

    `about`: what the page is about, where its path does not say so.
    Raises Unavailable where nothing can be shown: nobody has seen it, and it is `all_stored`, or `render` needs
    something that it does not ask for by `stored`.
    """
    kept: Kept = current_app.extensions.setdefault("battlebot.pages", OrderedDict())
    # a page may name the host by which it was asked for
    key = (request.host, request.path, about)
    try:
        if is_away("mongodb"):
            # asking would take seconds, and hold up what can be shown
            raise Unavailable("MongoDB does not answer now.")
        html = render()
    except Unavailable as error:
        log.warning("page.stale", path=request.path, error=str(error))
        seen_s, html = kept.get(key, (None, ""))
        if seen_s is None:
            if all_stored:
                raise
            g.without_stored = True
            html = render()
        note = render_template(
            "_stale.html", seen=_moment(seen_s), since=_moment(current_context().away().get("mongodb"))
        )
        return html.replace(NOTE, note, 1)
    if len(html) <= MOST_CHARACTERS:
        kept[key] = (time.time(), html)
        kept.move_to_end(key)
        if len(kept) > MOST_KEPT:
            kept.popitem(last=False)
    return html


def stored(look: Callable[[], Seen]) -> Seen | None:
    """What `look` reads from MongoDB; None on a page that is made without it. Raises Unavailable."""
    return None if without_stored() else look()


def without_stored() -> bool:
    """Whether the page is made without what MongoDB keeps."""
    return bool(g.get("without_stored"))


def is_away(part: str) -> bool:
    """Whether the node knows already that a part ("mongodb", "redis") does not answer."""
    return part in current_context().away()


def _moment(epoch_s: float | None) -> datetime | None:
    return None if epoch_s is None else datetime.fromtimestamp(epoch_s, UTC)
