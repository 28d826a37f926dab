"""The browser's own socket.io clients, Battle-cubed's and today's, in a real Chromium, over every transport."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cluster import START_S, Web, cluster, wait_for
from httpbots import Bots
from playwright.sync_api import Browser, sync_playwright
from viewers import game

from battlebot.config import Settings

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
CLIENTS = Path(__file__).parent.parent / "data" / "socketio"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

# as Battle-cubed's client does: connect, emit, listen to the events one by one
PLAY = """([wanted, transports]) => new Promise((done, fail) => {
  const got = [];
  const socket = io(location.origin, transports ? { transports, forceNew: true } : { forceNew: true });
  setTimeout(() => fail(new Error("nothing after " + JSON.stringify(got.slice(-2)))), 30000);
  const names = ["GAME_STARTED", "PLAYER_LOST", "PLAYER_MOVE_ATTEMPT", "PLAYER_PLACED_BOMB", "PLAYER_DID_NOTHING",
    "NEXT_TICK", "ERROR"];
  for (const name of names) socket.on(name, (body) => got.push([name, body]));
  socket.on("GAME_ENDED", (body) => {
    got.push(["GAME_ENDED", body]);
    const transport = socket.io.engine.transport.name;
    socket.close();
    done({ got, transport });
  });
  socket.on("connect", () => socket.emit("NEW_GAME", wanted));
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-quic"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def node(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web node, and a worker that asks bots; a game needs no more."""
    with cluster(replace(module_settings, bot_loopback=True), tmp_path_factory.mktemp("socketio")) as parts:
        web = parts.web()
        parts.bots()
        wait_for(lambda: " ready." in parts.logs(), "the worker", START_S)
        yield web
    assert "Traceback" not in parts.logs()


@pytest.mark.parametrize("client", ["client-2.0.4.js", "client-4.8.1.js"])
@pytest.mark.parametrize("transports", [["polling"], ["websocket"], None], ids=["polling", "websocket", "upgraded"])
def test_a_browsers_client_plays_a_game(
    node: Web, bots: Bots, browser: Browser, client: str, transports: list[str] | None
) -> None:
    """Each event once, in order, from the start to the end; where it begins by polling it goes on by WebSocket."""
    # the page's own policy allows no script of others
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{node.url}/docs")
    page.add_script_tag(path=CLIENTS / client)
    slow = bots.url("slow")
    answer = page.evaluate(PLAY, [game(slow, slow, maxNumOfTicks=4), transports])
    names = [name for name, _ in answer["got"]]
    assert names == ["GAME_STARTED", *["NEXT_TICK", *["PLAYER_DID_NOTHING"] * 2] * 4, "GAME_ENDED"]
    ticks = [body["gameInfo"]["currentTick"] for name, body in answer["got"] if name == "NEXT_TICK"]
    assert ticks == [0, 1, 2, 3]
    assert [row["url"] for row in answer["got"][-1][1]["scores"]] == [slow, slow]
    assert answer["transport"] == ("polling" if transports == ["polling"] else "websocket")
    context.close()
