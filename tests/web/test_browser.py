"""The contest's page in a real Chromium: it follows the contest without being loaded again."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import complaints_of, in_a_browser
from cluster import wait_for
from playwright.sync_api import Browser, Page, Route, expect
from records import played
from webhouse import House

from battlebot.redisio import keys
from battlebot.referee.events import Turned

pytestmark = in_a_browser


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    """A page of a headless browser."""
    return browser.new_page(viewport={"width": 320, "height": 700})


def gomoku() -> dict[str, Any]:
    """A finished match of nine moves, as it is stored."""
    moves = [(0, 0), (7, 7), (1, 0), (8, 7), (2, 0), (9, 7), (3, 0), (10, 7), (4, 0)]
    return played([Turned("ab"[n % 2], {"x": x, "y": y}, 0.01) for n, (x, y) in enumerate(moves)], "gomoku")


def is_scrolled_by(page: Page, key: str) -> bool:
    """Whether the board has moved, or moves a moment after this key."""
    page.keyboard.press(key)
    try:
        expect(page.locator("#board")).not_to_have_js_property("scrollLeft", 0, timeout=1000)
    except AssertionError:
        return False
    return True


def test_a_contests_page_follows_the_contest(home: House, page: Page, address: str) -> None:
    """Standings, bar and crosstable change by themselves; no policy is broken; 320 pixels are enough."""
    hostile = "<img src=x onerror=alert(1)>"
    home.contest(bots=("a", hostile, "c", "d", "e", "f"))
    complaints = complaints_of(page)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(f"{address}/web/noughtsandcrosses/contests/autumn")
    expect(page.locator("#live-status")).to_have_text("live")
    assert page.locator("#standings .rank").all_inner_texts() == ["1"] * 6
    home.play("a", hostile, hostile, "autumn")
    home.redis.publish(keys.contest_events("noughtsandcrosses", "autumn"), b"{}")
    expect(page.locator("progress")).to_have_attribute("value", "1")
    expect(page.locator("#standings tbody tr").first).to_contain_text(hostile)
    expect(page.locator("#crosstable")).to_contain_text("1\N{EN DASH}0\N{EN DASH}0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert complaints == []


def test_a_page_that_one_comes_back_to_is_live_again(home: House, page: Page, address: str) -> None:
    """Its stream ended as it was left, and the browser shows it as it was then."""
    home.contest(bots=("a", "b", "c"))
    page.goto(f"{address}/web/noughtsandcrosses/contests/autumn")
    expect(page.locator("#live-status")).to_have_text("live")
    page.goto(f"{address}/docs")
    home.play("a", "b", "b", "autumn")
    page.evaluate("history.back()")
    expect(page.locator("progress")).to_have_attribute("value", "1", timeout=20_000)
    expect(page.locator("#live-status")).to_have_text("live")
    page.goto("about:blank")


def test_a_board_is_replayed_without_leaving_its_page(home: House, page: Page, address: str) -> None:
    """Back, first, and by itself to the end."""
    record = gomoku()
    home.storage.archive.store([record])
    complaints = complaints_of(page)
    page.goto(f"{address}/web/gomoku/matches/{record['_id']}")
    marks = page.locator("#board td.seat-0, #board td.seat-1")
    expect(marks).to_have_count(9)
    page.get_by_text("Back", exact=True).click()
    expect(marks).to_have_count(8)
    expect(page.locator("#board td.fresh")).to_have_count(1)
    page.get_by_text("First", exact=True).click()
    expect(marks).to_have_count(0)
    page.get_by_role("button", name="Play").click()
    expect(marks).to_have_count(9, timeout=20_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert complaints == []


def test_who_replays_a_board_by_the_keyboard_keeps_the_focus_and_is_told_the_turn(
    home: House, page: Page, address: str
) -> None:
    """Also at a step that leads nowhere any more; a reader of the screen hears of no turn that passes by."""
    record = gomoku()
    home.storage.archive.store([record])
    page.goto(f"{address}/web/gomoku/matches/{record['_id']}")
    first, place = page.get_by_text("First", exact=True), page.locator(".replay").get_by_role("status")
    expect(place).to_have_text("after turn 9 of 9")
    first.press("Enter")
    expect(place).to_have_text("after turn 0 of 9")
    expect(first).to_have_attribute("aria-disabled", "true")
    expect(first).to_be_focused()
    expect(place).to_have_attribute("aria-live", "polite")
    page.get_by_role("button", name="Play").press("Enter")
    expect(place).to_have_attribute("aria-live", "off")
    expect(place).to_have_text("after turn 9 of 9", timeout=20_000)
    expect(place).to_have_attribute("aria-live", "polite")


def test_a_match_that_is_over_as_it_is_watched_can_be_played_again(home: House, page: Page, address: str) -> None:
    """What steps through it comes with the last message."""
    match = home.begin("a", "b", game="gomoku")
    page.goto(f"{address}/web/gomoku/matches/{match.id}")
    expect(page.locator("#live-status")).to_have_text("live")
    home.storage.archive.store([{**gomoku(), "_id": match.id}])
    home.redis.publish(keys.match_events(match.id), "")
    expect(page.locator("#live-status")).to_have_text("final")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".replay span")).to_have_text("after turn 9 of 9", timeout=20_000)


def test_a_step_that_comes_late_does_not_undo_the_one_after_it(home: House, page: Page, address: str) -> None:
    """The answer to the first click is held back until the second has been shown."""
    record = gomoku()
    home.storage.archive.store([record])
    page.goto(f"{address}/web/gomoku/matches/{record['_id']}")
    marks, held = page.locator("#board td.seat-0, #board td.seat-1"), list[Route]()
    page.route("**/turns/0", lambda route: held.append(route))
    page.get_by_text("First", exact=True).click()
    page.get_by_text("Back", exact=True).click()
    expect(marks).to_have_count(8)
    with page.expect_response("**/turns/0") as answered:
        held[0].continue_()
    answered.value.finished()
    page.get_by_text("Back", exact=True).click()
    expect(marks).to_have_count(7)
    page.unroute("**/turns/0")


def test_a_step_that_cannot_be_shown_says_why(home: House, page: Page, address: str) -> None:
    """Its page does, as without a script; what plays by itself stops."""
    record = gomoku()
    home.storage.archive.store([record])
    page.goto(f"{address}/web/gomoku/matches/{record['_id']}")
    page.route("**/turns/0", lambda route: route.abort())
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.unroute("**/turns/0")
    home.storage.database["games"].update_one({"_id": record["_id"]}, {"$set": {"turns.0.x": "gone"}})
    page.get_by_text("Back", exact=True).click()
    expect(page.locator("h1")).to_have_text("Not Found")


def test_a_match_of_crossword_is_replayed_by_keys(home: House, page: Page, address: str) -> None:
    """Board, racks, score sheet and events of each turn; a challenge takes tiles away; no policy is broken."""
    start = home.context.registry["crossword"].initial_state(["a", "b"], 7, {})
    tiles = start["racks"][0].replace("?", "")[:2]
    assert tiles not in ("AA", "AT"), "this must be no word"
    laid = {"type": "TILE_PLACEMENT_MOVE", "position": "8G", "played_tiles": tiles}
    turns = [laid, {"type": "CHALLENGE"}, *[{"type": "PASS"}] * 5]
    record = played([Turned("abbabab"[n], turn, 0.01) for n, turn in enumerate(turns)], "crossword")
    home.storage.archive.store([record])
    complaints = complaints_of(page)
    page.goto(f"{address}/web/crossword/matches/{record['_id']}")
    on_board, place = page.locator("#board td.kind-tile"), page.locator(".replay span")
    racks, sheet, events = (page.locator("#board .sheet").nth(number) for number in range(3))
    expect(place).to_have_text("after turn 7 of 7")
    expect(racks).to_contain_text("".join(start["racks"][1]))
    expect(events.locator("tbody tr")).to_have_count(9)
    expect(on_board).to_have_count(0)
    page.keyboard.press("Home")
    expect(place).to_have_text("after turn 0 of 7")
    expect(events.locator("tbody tr")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(on_board).to_have_count(2)
    expect(page.locator("#board td.fresh")).to_have_count(2)
    expect(sheet).to_contain_text(f"8G {tiles}")
    page.keyboard.press("ArrowRight")
    expect(on_board).to_have_count(0)
    expect(events).to_contain_text(f"was challenged, and took {tiles} back")
    page.keyboard.press("ArrowLeft")
    expect(on_board).to_have_count(2)
    # within a board that is wider than the window the keys scroll it; a busy browser may ignore one of them
    page.locator("#board").focus()
    wait_for(lambda: is_scrolled_by(page, "ArrowRight"), "the board to scroll")
    expect(place).to_have_text("after turn 1 of 7")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    expect(place).to_have_text("after turn 7 of 7")
    page.keyboard.press("Control+Home")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(place).to_have_text("after turn 7 of 7", timeout=20_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert complaints == []
