"""The viewer of battlecube in a real Chromium: drawn in three dimensions, stepped, played, turned; live; as layers."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browsing import CHROMIUM, in_a_browser, served
from conductors import Conductor
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from test_style import ENOUGH, contrast
from webhouse import REGISTRY, House, seqs

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.calls import Beginning
from battlebot.arena.live.finished import Ended, Finished
from battlebot.arena.live.making import new_match
from battlebot.config import Settings
from battlebot.referee.events import Turned
from battlebot.referee.match import Match

# WebGL by the processor: there need be no graphics card
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--disable-sync")
GAME = "battlecube"
HOSTILE = "<img src=x onerror=alert(1)>"
BOTS = ["ann", "bob", "cid", HOSTILE]
RULES = REGISTRY[GAME]

pytestmark = in_a_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page, closed before its server; it must not complain of anything, nor break a policy."""
    opened = browser.new_page(viewport={"width": 1000, "height": 900}, reduced_motion="no-preference")
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield opened
    opened.close()
    assert complaints == []


@pytest.fixture
def address(home: House) -> Iterator[str]:
    """Where the app is served."""
    with served(home) as url:
        yield f"{url}/web/{GAME}/matches"


def begun(home: House, **options: Any) -> Match:
    """A battle of four in a cube of five, in Redis."""
    seats = [(bot, f"n/{index}") for index, bot in enumerate(BOTS)]
    match = new_match(
        RULES, seats, Settings(), 1_790_000_000.0, options={"edgeLength": 5, "maxNumOfTicks": 12, **options}
    )
    match = replace(match, due_s=2e9, seed=5, state=RULES.initial_state(BOTS, 5, match.options))
    assert home.store.begin(Beginning(match, [], []), "queue")
    return match


def tick(home: House, match_id: str, dice: random.Random) -> Match:
    """All that are asked answer: they walk inside the cube, or bomb."""
    conductor = Conductor(REGISTRY, home.store)
    for bot in home.store.load(match_id).state["waitingFor"]:
        conductor.conduct(
            home.store.load(match_id), Turned(bot, {"tasks": [task(home.store.load(match_id), bot, dice)]}, 0.1)
        )
    return home.store.load(match_id)


def task(match: Match, bot: str, dice: random.Random) -> dict[str, Any]:
    """A step that stays inside, or a bomb somewhere."""
    own = next(row for row in match.state["positions"] if row["name"] == bot)
    if dice.random() < 0.4:
        return {"task": "BOMB", **{axis: dice.randrange(5) for axis in "xyz"}}
    ways = [f"+{axis.upper()}" for axis in "xyz" if own[axis] < 4] + [f"-{axis.upper()}" for axis in "xyz" if own[axis]]
    return {"task": "MOVE", "direction": dice.choice(ways)}


def archived(home: House, match_id: str) -> dict[str, Any]:
    """The battle, which is over, as the archive stores it."""
    (ended,) = Finished(home.store.client).read([match_id])
    document = game_document(Ended(ended.match, next(seqs), ended.turns))
    home.storage.archive.store([document])
    Finished(home.store.client).retire([match_id])
    return document


def fought(home: House, **options: Any) -> dict[str, Any]:
    """A stored battle."""
    match, dice = begun(home, **options), random.Random(3)
    while match.verdict is None:
        match = tick(home, match.id, dice)
    return archived(home, match.id)


def drawn(page: Page) -> int:
    """How many colors the picture of the stage has, every 50th pixel; a blank one has one."""
    picture = base64.b64encode(page.locator(".stage").screenshot()).decode()
    return int(page.evaluate(COLORS, f"data:image/png;base64,{picture}"))


COLORS = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const paint = canvas.getContext("2d");
  paint.drawImage(image, 0, 0);
  const pixels = new Uint32Array(paint.getImageData(0, 0, image.width, image.height).data.buffer);
  return new Set(pixels.filter((_, at) => at % 50 === 0)).size;
}"""


def frame(page: Page) -> int:
    """Which frame is shown."""
    return int(page.locator("#viewer").get_attribute("data-frame") or -1)


def press(page: Page, name: str) -> None:
    """A button of the viewer."""
    page.locator(f"#viewer [data-do={name}]").click()


def test_a_replay_is_drawn_stepped_played_and_turned(home: House, page: Page, address: str) -> None:
    """From the first tick to the last, which shows who is left; the names are text, whatever they are."""
    match = fought(home)
    page.goto(f"{address}/{match['_id']}")
    expect(page.locator("#viewer")).to_have_attribute("data-view", "cube")
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes")
    assert page.locator(".legend bdi").all_inner_texts() == BOTS
    assert page.locator(".names bdi").all_inner_texts() == BOTS
    assert drawn(page) > 20
    press(page, "on")
    expect(page.locator("#viewer")).to_have_attribute("data-frame", "1")
    before = page.locator(".stage").screenshot()
    page.locator(".stage canvas").press("ArrowLeft")
    assert page.locator(".stage").screenshot() != before
    press(page, "back")
    assert frame(page) == 0
    page.locator("#viewer select").select_option("10")
    press(page, "play")
    expect(page.locator("#viewer [data-do=play]")).to_have_text("Stop")
    expect(page.locator("#viewer [data-do=play]")).to_have_text("Play", timeout=30_000)
    last = match["currentTick"]
    expect(page.locator("#viewer")).to_have_attribute("data-tick", str(last))
    left = [row["name"] for row in match["positions"]]
    assert page.locator(".legend li:not(.out) bdi").all_inner_texts() == [bot for bot in BOTS if bot in left]
    press(page, "first")
    assert frame(page) == 0
    page.locator("#viewer input").fill("2")
    assert frame(page) == 2


def test_every_frame_is_as_the_rules_have_it(home: House, page: Page, address: str) -> None:
    """Who and what is where before each tick, told by the layers, is what the game's states say."""
    match = fought(home)
    page.goto(f"{address}/{match['_id']}")
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes")
    press(page, "shape")
    expect(page.locator("#viewer")).to_have_attribute("data-view", "layers")
    state = RULES.initial_state(BOTS, 5, match["match"]["options"])
    states = [state]
    for turn in match["turns"]:
        state = RULES.reducer(state, turn)
        if state["currentTick"] != states[-1]["currentTick"]:
            states.append(state)
    assert len(states) == match["currentTick"] + 1
    for number, expected in enumerate(states):
        page.locator("#viewer input").fill(str(number))
        marks = {(row["x"], row["y"], row["z"], str(1 + BOTS.index(row["name"]))) for row in expected["positions"]}
        marks |= {(row["x"], row["y"], row["z"], "\N{BLACK CIRCLE}") for row in expected["items"]}
        assert {tuple(mark) for mark in page.evaluate(SHOWN)} == marks
    press(page, "shape")
    expect(page.locator("#viewer")).to_have_attribute("data-view", "cube")
    assert drawn(page) > 20


SHOWN = """() => [...document.querySelectorAll(".layers table")].flatMap((table, z) =>
  [...table.tBodies[0].rows].flatMap((row, y) =>
    [...row.querySelectorAll("td")].flatMap((cell, x) =>
      [...cell.children].map((mark) => [x, y, z, mark.textContent]))))"""


def test_a_live_battle_is_followed_to_its_end(home: House, page: Page, address: str) -> None:
    """Tick by tick as they come; when it is over the whole of it can be played."""
    match, dice = begun(home), random.Random(3)
    page.goto(f"{address}/{match.id}")
    expect(page.locator("#live-status")).to_have_text("live")
    expect(page.locator("#viewer")).to_have_attribute("data-tick", "0")
    assert drawn(page) > 20
    # one of four has answered: the state is told again, and is the same tick
    Conductor(REGISTRY, home.store).conduct(match, Turned("ann", {"tasks": [{"task": "NOOP"}]}, 0.1))
    expect(page.locator(".verdict")).to_contain_text("3 of 4 yet to answer", timeout=20_000)
    expect(page.locator("#viewer input")).to_have_attribute("max", "0")
    seen = 0
    while match.verdict is None:
        match = tick(home, match.id, dice)
        if seen < 2:
            seen += 1
            expect(page.locator("#viewer")).to_have_attribute(
                "data-tick", str(match.state["currentTick"]), timeout=20_000
            )
    archived(home, match.id)
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes", timeout=20_000)
    expect(page.locator("#live-status")).to_have_text("final")
    press(page, "last")
    expect(page.locator("#viewer")).to_have_attribute("data-frame", str(match.state["currentTick"]))


def test_without_webgl_there_are_layers(home: House, page: Page, address: str) -> None:
    """A table each; where the context is lost on the way, too."""
    match = fought(home)
    page.goto(f"{address}/{match['_id']}")
    page.evaluate(
        "document.querySelector('.stage canvas').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
    )
    expect(page.locator("#viewer")).to_have_attribute("data-view", "layers")
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.reload()
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes")
    expect(page.locator(".layers table")).to_have_count(5)
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    expect(page.locator("#viewer [data-do=shape]")).to_be_hidden()
    press(page, "on")
    expect(page.locator("#viewer")).to_have_attribute("data-tick", "1")


def test_views_can_be_changed_as_often_as_one_likes(home: House, page: Page, address: str) -> None:
    """No picture is left behind: a browser ends the oldest of a page that has too many."""
    match = fought(home)
    page.add_init_script(PICTURES)
    page.goto(f"{address}/{match['_id']}")
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes")
    for view in ("layers", "cube") * 3:
        press(page, "shape")
        expect(page.locator("#viewer")).to_have_attribute("data-view", view)
    assert drawn(page) > 20
    assert page.evaluate("pictures.filter((one) => !one.isContextLost()).length") == 1


PICTURES = """
window.pictures = [];
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  const made = getContext.call(this, kind, options);
  if (kind.startsWith("webgl") && made) window.pictures.push(made);
  return made;
};
"""


def test_the_number_of_each_player_is_seen_upon_its_color(home: House, page: Page, address: str) -> None:
    """Of all 64 there may be."""
    page.goto(f"{address}/{fought(home)['_id']}")
    for color, ink in page.evaluate(PAINTED):
        assert contrast(f"#{bytes(map(int, re.findall('[0-9]+', color))).hex()}", ink) >= ENOUGH, color


PAINTED = """async () => {
  const { Colors } = await import("/assets/boards/battlecube/colors.js");
  const colors = new Colors();
  return Array.from({ length: 64 }, (_, at) => colors.of(String(at))).map(({ css, ink }) => [css, ink]);
}"""


@pytest.fixture
def uneasy(browser: Browser) -> Iterator[Page]:
    """A page that may complain."""
    opened = browser.new_page()
    yield opened
    opened.close()


def test_a_story_that_cannot_be_had_is_asked_for_again(home: House, uneasy: Page, address: str) -> None:
    """No connection, then a server without its database, then the story."""
    match, asked = fought(home), list[str]()

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        elif len(asked) == 2:
            route.fulfill(status=503, json={"error": "Not now.", "code": "unavailable"})
        else:
            route.continue_()

    uneasy.route("**/story", answer)
    uneasy.goto(f"{address}/{match['_id']}")
    expect(uneasy.locator(".happened")).to_have_text("The battle cannot be loaded at the moment; trying again.")
    expect(uneasy.locator(".happened")).to_have_role("status")
    expect(uneasy.locator("#viewer")).to_have_attribute("data-loaded", "yes", timeout=20_000)
    expect(uneasy.locator(".happened")).to_be_empty()
    assert len(asked) == 3


def test_where_there_is_no_story_there_is_no_stage(home: House, uneasy: Page, address: str) -> None:
    """The text of the last state is all that is shown."""
    match = fought(home)
    home.storage.database["games"].update_one({"_id": match["_id"]}, {"$unset": {"match.seed": 1}})
    uneasy.goto(f"{address}/{match['_id']}")
    expect(uneasy.locator("#viewer")).to_be_hidden()
    expect(uneasy.locator("#board")).to_contain_text("tick")


def test_a_large_cube_is_drawn_and_listed(home: House, page: Page, address: str) -> None:
    """A list in the place of 20 layers."""
    match = fought(home, edgeLength=20)
    page.goto(f"{address}/{match['_id']}")
    expect(page.locator("#viewer")).to_have_attribute("data-loaded", "yes")
    assert drawn(page) > 20
    press(page, "shape")
    expect(page.locator(".layers tr").first).to_contain_text("ann")


def test_other_games_have_their_pages_as_before(home: House, page: Page, address: str) -> None:
    """No viewer, no script of it."""
    match_id = home.play("a", "b", "a")
    page.goto(f"{address.replace(GAME, 'noughtsandcrosses')}/{match_id}")
    expect(page.locator("#board table")).to_be_visible()
    assert page.locator("#viewer").count() == 0
    assert page.locator("script[src*=boards]").count() == 0
