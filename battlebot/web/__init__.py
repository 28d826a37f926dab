"""Pages for people, rendered on the server. The pages of matches are generic: they show what is in a match's state."""

from __future__ import annotations

from flask import Flask

from battlebot.api.context import CONTEXT_KEY, Context
from battlebot.api.errors import PAGES_KEY
from battlebot.web import filters, guides
from battlebot.web.docspage import docs
from battlebot.web.errorpage import error_page
from battlebot.web.pages import blueprint

__all__ = ["init_web"]


def init_web(app: Flask, context: Context) -> None:
    """Register the pages and their streams. The app also needs `init_api`, before or after this."""
    app.extensions[CONTEXT_KEY] = context
    app.extensions[PAGES_KEY] = error_page
    app.jinja_options = {**app.jinja_options, "trim_blocks": True, "lstrip_blocks": True}
    filters.register(app)
    app.add_template_global(guides.guide_url)
    app.register_blueprint(blueprint)
    app.register_blueprint(docs)
    app.register_blueprint(guides.blueprint)
