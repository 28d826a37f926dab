"""A headless Chromium for tests of the pages, and the app served to it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster import wait_for
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from webhouse import House
from werkzeug.serving import make_server

from battlebot.api.streams import Snapshot

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]

in_a_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


RESET = "net::ERR_CONNECTION_RESET"
LOST = ("net::ERR_CONNECTION_REFUSED", "net::ERR_SOCKET_NOT_CONNECTED")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        # as people's browsers do, it keeps pages that were left, and shows them again as they were
        kept = ["--disable-back-forward-cache"]
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, ignore_default_args=kept)
        yield started
        started.close()


@pytest.fixture
def address(home: House) -> Iterator[str]:
    """Where the app is served."""
    with served(home) as url:
        yield url


@contextmanager
def served(home: House) -> Iterator[str]:
    """Serves the app, and yields where. Afterwards no stream goes on, which would ask a MongoDB that is closed."""
    server = make_server("127.0.0.1", 0, home.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(5)
    server.server_close()
    wait_for(lambda: _all_streams_are_over(home), "the end of the streams")


def _all_streams_are_over(home: House) -> bool:
    """Whether they are; those that are not learn that what they show is final."""
    shared, client = home.app.extensions.get("battlebot.streams"), home.redis
    if shared is not None:
        shared.look = lambda *_: Snapshot({}, final=True)
    channels = client.pubsub_channels("bb:events:*")
    for channel in channels:
        client.publish(channel, b"{}")
    return not channels


def complaints_of(page: Page) -> list[str]:
    """What the browser will complain of in the page. Not that the tests' server resets a connection as it closes it.

    Nor that a busy machine lost the connection for the icon, which the browser loads again at each step of a replay.
    """
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        url = message.location["url"]
        passed_over = (RESET, *LOST) if url.endswith("/assets/logo.svg") else (RESET,)
        if not any(error in message.text for error in passed_over):
            found.append(f"{message.text} ({url})")

    page.on("console", note)
    return found
