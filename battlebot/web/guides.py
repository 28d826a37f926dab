"""The pages /docs/...: what docs/ tells authors of bots, organisers and viewers, on each server for who comes to it."""

from __future__ import annotations

import posixpath
import re
import sysconfig
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint, abort, render_template, url_for
from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it.token import Token

GAMES = "games"  # the folder with a guide for each game, as far as there is one
GUIDES = (
    *("bots", "http-bots", "tcp", "nats"),
    *("contests", "organising", "ratings"),
    *("api", "socketio", "histories"),
)
FOLDERS = (
    Path(__file__).parents[2] / "docs",
    Path(sysconfig.get_path("data")) / "share" / "battlebot" / "docs",  # of an installed wheel
)

blueprint = Blueprint("guides", __name__)


@dataclass(frozen=True)
class Guide:
    """`name`: its file's path in docs/, without the suffix."""

    name: str
    title: str
    text: str


@blueprint.get("/docs/<path:name>")
def show(name: str) -> str:
    """The page of one guide, with links to the others."""
    # a slash at the end changes nothing, as on all paths
    guide = shelf().get(name.removesuffix("/")) or abort(404)
    return render_template("guide.html", guide=guide, text=_rendered(guide), guides=shelf().values())


def guide_url(name: str, fragment: str | None = None) -> str | None:
    """The address of a guide's page; None if that guide is not here."""
    return url_for("guides.show", name=name, _anchor=fragment) if name in shelf() else None


@cache
def shelf() -> dict[str, Guide]:
    """The guides by their names, in the order in which they are listed; read once. Empty if docs/ is not here."""
    folder = next((folder for folder in FOLDERS if (folder / "bots.md").is_file()), None)
    if folder is None:
        return {}
    games = sorted(f"{GAMES}/{path.stem}" for path in (folder / GAMES).glob("*.md"))
    files = {name: folder / f"{name}.md" for name in (*GUIDES, *games)}
    return {name: _read(name, file) for name, file in files.items() if file.is_file()}


def _read(name: str, file: Path) -> Guide:
    heading, _, rest = file.read_text(encoding="utf-8").partition("\n")
    # a game's heading also names its file
    return Guide(name, re.sub(r" \(`\w+`\)$", "", heading.removeprefix("# ")), rest)


@cache
def _rendered(guide: Guide) -> Markup:
    # not at the top: a node loads it only when somebody reads a guide
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(guide.text)
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(following.content))
        elif token.type == "inline":
            token.children = _linked(guide.name, token.children or [])
    html = markdown.renderer.render(tokens, markdown.options, {})
    # what may be wider than the window scrolls by itself, by the keyboard too
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
    return Markup(html.replace("</table>", "</table></div>"))  # noqa: S704 - the text is ours, and HTML in it is escaped


def anchor(heading: str) -> str:
    """The `id` of a heading, by which links to it end in `#...`, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _linked(name: str, tokens: list[Token]) -> list[Token]:
    """The tokens of a text in which links to guides lead to their pages, and those to other files are plain text.

    A link that is called by its file is called by the guide's title; pictures are left out.
    """
    kept, address, title = [], None, None
    for token in tokens:
        if token.type == "link_open":
            address, title = _target(name, str(token.attrGet("href")))
            token.attrSet("href", address or "")
        elif token.type == "text" and token.content.endswith(".md") and title:
            token.content = title
        if token.type != "image" and (address or token.type not in ("link_open", "link_close")):
            kept.append(token)
        if token.type == "link_close":
            title = None
    return kept


def _target(name: str, link: str) -> tuple[str | None, str | None]:
    """Where a link in the guide `name` leads to on this server, None if that is not here; and the guide's title."""
    if link.startswith(("#", "http://", "https://")):
        return link, None
    path, _, fragment = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)).removesuffix(".md")
    if path == GAMES:
        return url_for("pages.home"), None
    if path not in shelf():
        return None, None
    return guide_url(path, fragment or None), shelf()[path].title
