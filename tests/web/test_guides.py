"""The guides of docs/ on the server: what a stranger needs who knows nothing but its address."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from test_pages import page_at
from webhouse import REGISTRY

from battlebot.web import guides
from battlebot.web.guides import GUIDES

ROOT = Path(__file__).parents[2]
NAMES = [*GUIDES, *(f"games/{name}" for name in REGISTRY)]


@pytest.mark.parametrize("name", NAMES)
def test_each_guide_has_its_page(client: FlaskClient, name: str) -> None:
    """With all of its text, and links that lead somewhere on this server: to a page, and to a place in it."""
    page = page_at(client, f"/docs/{name}")
    assert client.get(f"/docs/{name}/").text == client.get(f"/docs/{name}").text
    written = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert re.sub(r" \(.*", "", written.splitlines()[0].removeprefix("# ")) in page.text
    assert not [link for link in page.values("a", "href") if ".md" in link]
    tables = len(re.findall(r"^\|[-|: ]*-[-|: ]*\|$", written, re.M))
    assert [tag for tag, _ in page.elements].count("table") == tables
    for link in page.values("a", "href"):
        path, _, fragment = link.partition("#")
        there = page_at(client, path) if path and path != f"/docs/{name}" else page
        if fragment:
            assert any(attrs.get("id") == fragment for _, attrs in there.elements), link


def test_links_are_called_by_what_they_lead_to(client: FlaskClient) -> None:
    """On paper they are called by their files; those that are not here are plain text."""
    html = client.get("/docs/bots").text
    assert '(<a href="/docs/api">The REST API</a>)' in html
    assert '<a href="/">the games\' pages</a>' in html
    html = client.get("/docs/organising").text
    assert "(operations.md)" in html
    assert "/docs/operations" not in html


@pytest.mark.parametrize(
    "path", ["operations", "architecture", "none", "games", "games/none", "../README", "%2e%2e/README"]
)
def test_nothing_else_of_the_repository_is_shown(client: FlaskClient, path: str) -> None:
    """Nor is anything that an address can be made to point to."""
    page_at(client, f"/docs/{path}", 404)


def test_the_pages_lead_to_the_guides(client: FlaskClient) -> None:
    """From the front page, and from each game to what its bots hear."""
    assert {"/docs/bots", "/docs/http-bots", "/docs/nats", "/docs/tcp"} <= set(page_at(client, "/").values("a", "href"))
    assert "/docs/games/gomoku" in page_at(client, "/web/gomoku").values("a", "href")


def test_without_the_guides_nothing_leads_to_them(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that somebody made without docs/ serves all else."""
    monkeypatch.setattr(guides, "FOLDERS", ())
    guides.shelf.cache_clear()
    try:
        for path in ("/", "/web/gomoku", "/docs"):
            assert not [link for link in page_at(client, path).values("a", "href") if link.startswith("/docs/")]
        page_at(client, "/docs/bots", 404)
    finally:
        guides.shelf.cache_clear()


def test_a_guide_that_is_missing_is_missing_alone(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pages have a link to the first."""
    shutil.copy(ROOT / "docs" / "bots.md", tmp_path)
    monkeypatch.setattr(guides, "FOLDERS", (tmp_path,))
    guides.shelf.cache_clear()
    try:
        assert "/docs/bots" in page_at(client, "/web/gomoku").values("a", "href")
        page_at(client, "/docs/tcp", 404)
    finally:
        guides.shelf.cache_clear()


def test_the_package_holds_the_guides(tmp_path: Path) -> None:
    """The image is made from it, and has no repository."""
    sources = tmp_path / "sources"
    shutil.copytree(ROOT / "docs", sources / "docs")
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.txt", "app.py", "wsgi.py"):
        shutil.copy(ROOT / name, sources)
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", build, str(tmp_path)]
    subprocess.run(command, cwd=sources, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    held = {path.partition("/data/")[2] for path in zipfile.ZipFile(wheel).namelist()}
    assert {f"share/battlebot/docs/{name}.md" for name in NAMES} <= held
