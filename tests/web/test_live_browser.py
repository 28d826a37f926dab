"""Live pages in a real Chromium: what a viewer does on one outlasts its updates; a lost stream is replaced."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from browsing import complaints_of, in_a_browser
from cluster import wait_for
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect
from slow_line import stop_listening
from webhouse import House

from battlebot.api import streams
from battlebot.arena.live.calls import Beginning
from battlebot.redisio import keys

GAME = "noughtsandcrosses"
AUTUMN = f"/web/{GAME}/contests/autumn"

pytestmark = in_a_browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own, because some are given another clock."""
    opened = browser.new_page(viewport={"width": 320, "height": 700})
    yield opened
    opened.close()


def announce(home: House, contest: str = "autumn") -> None:
    """Says that something happened in the contest."""
    home.redis.publish(keys.contest_events(GAME, contest), b"{}")


def focused(page: Page) -> str:
    """The text of what has the focus."""
    return str(page.evaluate("document.activeElement.innerText"))


def test_who_has_gone_to_a_row_stays_there(home: House, page: Page, address: str) -> None:
    """The focus goes with the bot, and with the match, wherever an update puts them; a selection stays."""
    home.contest(bots=("a", "b", "c"))
    first = home.play("a", "b", "a", "autumn")
    complaints = complaints_of(page)
    page.goto(f"{address}{AUTUMN}")
    expect(page.locator("#live-status")).to_have_text("live")
    page.locator("#standings a", has_text="c").focus()
    home.play("c", "b", "c", "autumn")
    home.play("c", "a", "c", "autumn")
    announce(home)
    expect(page.locator("#standings tbody tr").first).to_contain_text("c")
    assert focused(page) == "c"
    page.locator("#recent").get_by_role("link").last.focus()
    home.play("c", "b", "c", "autumn")
    announce(home)
    expect(page.locator("#recent tbody tr")).to_have_count(4)
    assert first in page.evaluate("document.activeElement.href")
    page.locator(f"#match-{first}").select_text()
    selected = page.evaluate("String(getSelection())")
    assert "won" in selected
    home.play("c", "a", "c", "autumn")
    announce(home)
    expect(page.locator("#recent tbody tr")).to_have_count(5)
    assert page.evaluate("String(getSelection())") == selected
    assert complaints == []


def test_a_round_that_a_viewer_has_opened_or_closed_stays_so(home: House, page: Page, address: str) -> None:
    """One that nobody has touched closes when it is over."""
    home.register("a", "b", "c")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a", "b", "c"], "meetings": 1}
    assert home.organise("POST", "", body).status_code == 201
    assert home.organise("POST", "/cup/start").status_code == 200
    contest = home.storage.contests.find(GAME, "cup")
    assert contest is not None
    first, second, _ = (one["meetings"][0]["bots"] for one in home.context.lookout.rounds(contest))
    _played(home, first, 1)
    page.goto(f"{address}/web/{GAME}/contests/cup")
    expect(page.locator("#live-status")).to_have_text("live")
    assert _opened(page) == {"Round 3": True, "Round 2": True, "Round 1": False}
    page.locator("#all-rounds summary", has_text="Round 3").click()
    page.locator("#all-rounds summary", has_text="Round 1").press("Enter")
    _played(home, second, 2)
    announce(home, "cup")
    expect(page.locator("progress")).to_have_attribute("value", "2")
    assert _opened(page) == {"Round 3": False, "Round 2": False, "Round 1": True}


def _opened(page: Page) -> dict[str, bool]:
    """Which rounds are open."""
    rounds = page.locator("#all-rounds details").evaluate_all("all => all.map((one) => [one.innerText, one.open])")
    return {text[:7]: is_open for text, is_open in rounds}


def _played(home: House, bots: list[str], number: int) -> None:
    match_id = home.play(bots[0], bots[1], bots[0], "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": match_id}, {"$set": {"round": number}})


def test_what_an_organiser_changes_before_the_start_is_on_the_page(home: House, page: Page, address: str) -> None:
    """The title, in the tab too, and the rounds of another format."""
    home.register("a", "b", "c")
    assert home.organise("POST", "", {"name": "cup", "title": "Old"}).status_code == 201
    page.goto(f"{address}/web/{GAME}/contests/cup")
    expect(page.locator("#live-status")).to_have_text("live")
    expect(page.get_by_role("heading", name="Rounds")).to_have_count(0)
    change = {"title": "<b>New", "format": "round-robin", "entrants": ["a", "b", "c"]}
    assert home.organise("PATCH", "/cup", change).status_code == 200
    announce(home, "cup")
    expect(page.locator("h1")).to_have_text("<b>New")
    expect(page).to_have_title("<b>New · Noughts and Crosses · Battlebot")
    expect(page.get_by_role("heading", name="Rounds")).to_be_visible()


def test_a_wide_board_stays_where_it_was_scrolled_to(home: House, page: Page, address: str) -> None:
    """On the page of all boards, when its match goes on and when another one comes."""
    page.set_viewport_size({"width": 200, "height": 700})
    match = home.begin("a", "b", game="gomoku")
    page.goto(f"{address}/web/gomoku/live")
    expect(page.locator("#live-status")).to_have_text("live")
    board = page.locator(f"#boards li:has(a[href*='{match.id}']) .scroll")
    board.evaluate("(one) => one.scrollTo(60, 0)")
    for before_and_after in ("f" * 24, "0" * 24):
        assert home.store.begin(Beginning(replace(match, id=before_and_after), [], []), "queue")
    expect(page.locator("#boards li")).to_have_count(3, timeout=20_000)
    assert match.id in page.locator("#boards li a").nth(1).get_attribute("href")
    assert board.evaluate("(one) => one.scrollLeft") == 60


def test_stepping_through_a_match_keeps_the_focus(home: House, page: Page, address: str) -> None:
    """So that Enter can be pressed again; the tab is named after the turn."""
    turns: list[dict[str, Any]] = [
        {"mark": "XO"[n % 2], "space": [n // 3, n % 3], "player": "ab"[n % 2], "time": 1_790_000_000_000 + n}
        for n in range(7)
    ]
    about = {"seq": 1, "fault": "none", "void": False, "evidence": {}, "seed": 1, "options": {}, "version": 7}
    match_id = home.play("a", "b", "a", turns=turns, match=about)
    page.goto(f"{address}/web/{GAME}/matches/{match_id}")
    page.get_by_text("Back", exact=True).focus()
    for turn in (6, 5):
        page.keyboard.press("Enter")
        expect(page.locator(".replay span")).to_have_text(f"after turn {turn} of 7")
        assert focused(page) == "Back"
        expect(page).to_have_title(f"a v b, turn {turn} · Noughts and Crosses · Battlebot")


class Line:
    """A line to a server, along which nothing more goes once it is dead: neither data nor that it ended."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._dead: set[int] = set()
        self._opened: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def die(self) -> None:
        """Ends the connections that there are, without a word; new ones are as good as ever."""
        self._dead.update(map(id, self._opened))

    def break_off(self) -> None:
        """Ends the connections that there are; both ends are told."""
        for opened in self._opened:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends all of it."""
        self.break_off()
        stop_listening(self._listener)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._opened += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if id(source) not in self._dead:
                    sink.sendall(data)
            if id(source) not in self._dead:
                sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def line(address: str) -> Iterator[Line]:
    """A line to the app."""
    opened = Line(int(address.rpartition(":")[2]))
    yield opened
    opened.close()


def test_a_stream_that_died_in_silence_is_replaced(home: House, page: Page, line: Line) -> None:
    """As after a sleep: nobody tells the browser that the connection is no more."""
    home.contest(bots=("a", "b"))
    page.clock.install()
    page.goto(f"http://127.0.0.1:{line.port}{AUTUMN}")
    expect(page.locator("#live-status")).to_have_text("live")
    line.die()
    home.play("a", "b", "b", "autumn")
    announce(home)
    page.clock.fast_forward(60_000)
    expect(page.locator("progress")).to_have_attribute("value", "1", timeout=20_000)
    expect(page.locator("#live-status")).to_have_text("live")


def test_a_stream_in_which_nothing_happens_is_kept(
    home: House, page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its heartbeats are heard."""
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.1)
    home.contest(bots=("a", "b"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/events" in request.url else None)
    page.add_init_script(HEARD)
    page.clock.install()
    page.goto(f"{address}{AUTUMN}")
    for _ in range(4):
        page.evaluate("delete document.documentElement.dataset.heard")
        expect(page.locator("html")).to_have_attribute("data-heard", "yes")
        page.clock.fast_forward(30_000)
    assert len(asked) == 1
    expect(page.locator("#live-status")).to_have_text("live")


HEARD = """
const Known = EventSource;
window.EventSource = class extends Known {
  constructor(address) {
    super(address);
    this.addEventListener("alive", () => (document.documentElement.dataset.heard = "yes"));
  }
};
Object.assign(window.EventSource, { CLOSED: Known.CLOSED });
"""


def test_pages_that_nobody_sees_leave_the_browsers_connections_to_others(
    home: House, browser: Browser, address: str
) -> None:
    """It has six to a server; a page that is seen again shows what has happened meanwhile."""
    home.contest(bots=("a", "b"))
    tabs = browser.new_context()
    try:
        for _ in range(6):
            tab = tabs.new_page()
            tab.clock.install()
            tab.goto(f"{address}{AUTUMN}")
            expect(tab.locator("#live-status")).to_have_text("live")
            tab.evaluate(SEEN, False)
            tab.clock.run_for(5000)
        home.play("a", "b", "b", "autumn")
        announce(home)
        tabs.new_page().goto(f"{address}{AUTUMN}", timeout=20_000)
        expect(tab.locator("progress")).to_have_attribute("value", "0")
        tab.evaluate(SEEN, True)
        expect(tab.locator("progress")).to_have_attribute("value", "1", timeout=20_000)
    finally:
        tabs.close()


# tries are counted, and do not come
COUNTED = """
window.tries = new Set();
const set = window.setTimeout, clear = window.clearTimeout;
let last = 0;
window.setTimeout = (call, ms) => {
  if (call.name !== "again") return set(call, ms);
  tries.add(--last);
  return last;
};
window.clearTimeout = (id) => tries.delete(id) || clear(id);
"""


def test_a_page_that_is_seen_again_and_again_asks_no_more_often_for_a_stream_that_is_refused(
    home: House, page: Page, address: str
) -> None:
    """A server that has no place for it has none for many tries."""
    home.contest(bots=("a", "b"))
    refused: list[str] = []
    page.add_init_script(COUNTED)
    page.route("**/events*", lambda route: (refused.append(route.request.url), route.fulfill(status=503))[1])

    def tries_after(times: int) -> int:
        # asked first: while the page is asked, its requests are answered
        return wait_for(lambda: page.evaluate("tries.size") * (len(refused) == times), f"try {times}")

    page.goto(f"{address}{AUTUMN}")
    for seen in range(1, 5):
        assert tries_after(seen) == 1
        page.evaluate(SEEN, False)
        page.evaluate(SEEN, True)
    assert tries_after(5) == 1


def test_a_page_that_is_not_seen_for_a_moment_keeps_its_stream(home: House, page: Page, address: str) -> None:
    """Its place would be free only when the server writes to it the next time."""
    home.contest(bots=("a", "b"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/events" in request.url else None)
    page.clock.install()
    page.goto(f"{address}{AUTUMN}")
    expect(page.locator("#live-status")).to_have_text("live")
    for passed_ms in (1000, 10_000):
        page.evaluate(SEEN, False)
        page.clock.run_for(passed_ms)
        page.evaluate(SEEN, True)
    expect(page.locator("#live-status")).to_have_text("live")
    assert len(asked) == 2


SEEN = """
(seen) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: !seen });
  document.dispatchEvent(new Event("visibilitychange"));
}
"""


def test_what_is_no_longer_there_is_not_asked_for_again(home: House, page: Page, line: Line) -> None:
    """The contest is gone when the browser comes back."""
    home.contest("winter", bots=("a", "b"))
    page.goto(f"http://127.0.0.1:{line.port}/web/{GAME}/contests/winter")
    expect(page.locator("#live-status")).to_have_text("live")
    home.storage.database["contests"].delete_one({"name": "winter"})
    line.break_off()
    expect(page.locator("#live-status")).to_have_text("no longer there", timeout=20_000)


def test_the_library_has_its_licence_beside_it(home: House) -> None:
    """Which is 0BSD's."""
    assert home.client.get("/assets/vendor/idiomorph.js").status_code == 200
    assert b"Zero-Clause BSD" in home.client.get("/assets/vendor/idiomorph.LICENSE").data
