"""The pages, read as HTML: what stands in them, that they are well made, and that nothing hostile gets through."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from cup import cup
from flask.testing import FlaskClient
from records import reserve
from webhouse import REGISTRY, House, finished, house

from battlebot.api.context import CONTEXT_KEY
from battlebot.config import Settings
from battlebot.contests import formats
from battlebot.contests.formats.open import Open
from battlebot.rules.module import game_from_module
from battlebot.storage.meetings import Meeting
from battlebot.web import snapshots
from battlebot.web.filters import with_names, without_title
from battlebot.web.snapshots import RECENT, contest_snapshot, game_snapshot

HOSTILE = "<script>alert(1)<\\script>\"'><img src=x onerror=alert(2)>&amp;".replace("\\", "")[:64].replace("/", "")
VOID = {"meta", "link", "img", "br", "hr", "input", "rect"}
WEB = "/web/noughtsandcrosses"


class Page(HTMLParser):
    """A page's elements and texts; fails on elements that are closed in the wrong order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    @property
    def text(self) -> str:
        return " ".join(filter(None, self.texts))

    def values(self, tag: str, name: str) -> list[str]:
        """That attribute of all elements of that kind that have it."""
        return [value for found, attrs in self.elements if found == tag and (value := attrs.get(name)) is not None]


def page_at(client: FlaskClient, path: str, status: int = 200) -> Page:
    """The page, checked as all are: whole, ours alone, no inline script or style, no id twice, all within reach."""
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype) == (status, "text/html")
    page = Page(answer.text)
    ids = [value for _, attrs in page.elements if (value := attrs.get("id"))]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.elements:
        assert not [name for name in attrs if name == "style" or name.startswith("on")], (tag, attrs)
        assert tag != "style"
        if tag == "pre" or "scroll" in (attrs.get("class") or "").split():
            # what may be wider than the window can be scrolled by the keyboard
            assert attrs.get("tabindex") == "0", (tag, attrs)
        assert tag != "script" or attrs["src"].startswith("/assets/")
        for name in ("src", "href"):
            assert (attrs.get(name) or "/").startswith(("/", "#")), attrs
    return page


def test_a_games_page_leads_to_its_bots(home: House) -> None:
    """Also to one that has not played."""
    home.register("ann ott")
    (link,) = [link for link in page_at(home.client, WEB).values("a", "href") if "name=ann" in link]
    assert "ann ott" in page_at(home.client, link).text


def test_the_home_page_leads_to_every_game(home: House) -> None:
    """And to what runs and is being played."""
    home.contest("autumn cup")
    match = home.begin("a", "b")
    page = page_at(home.client, "/")
    links = page.values("a", "href")
    assert {f"/web/{name}" for name in REGISTRY} <= set(links)
    assert f"{WEB}/contests/autumn%20cup" in links
    assert f"{WEB}/matches/{match.id}" in links


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_game_has_its_page(client: FlaskClient, name: str) -> None:
    """What it is, how to enter it."""
    page = page_at(client, f"/web/{name}")
    assert REGISTRY[name].title in page.text
    told = REGISTRY[name].doc
    assert told.partition(": ")[2][1:] in page.text
    assert told not in page.text, "the name is in the heading"
    assert f"http://localhost/bots/{name}" in page.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Connect four: four win.", "Four win."),
        ("Connect Four wins.", "Connect Four wins."),
        ("Drop a mark: four win.", "Drop a mark: four win."),
        ("Connect Four:", ""),
        ("", ""),
    ],
)
def test_a_game_is_named_once(text: str, shown: str) -> None:
    """In its heading."""
    assert without_title(text, "Connect Four") == shown


def test_a_game_dropped_in_has_its_pages(settings: Settings) -> None:
    """A game of three that nobody has heard of, whose board is something else."""
    module = SimpleNamespace(
        __name__="games.tug",
        __doc__="Pull the rope.",
        GAME={"name": "tug", "title": "Tug of War", "players": (3, 3)},
        initial_state=lambda players, seed, options: {},
        validate=lambda state, turn: True,
        reducer=lambda state, turn: state,
    )
    with house(settings) as opened:
        tug = game_from_module(module)  # type: ignore[arg-type]
        opened.context.registry["tug"] = tug  # type: ignore[index]
        try:
            match_id = opened.play("a", "b", "c", game="tug", players=["a", "b", "c"], board={"rope": 7}, marks=None)
            assert "Pull the rope." in page_at(opened.client, "/web/tug").text
            assert '"rope": 7' in page_at(opened.client, f"/web/tug/matches/{match_id}").text
            assert len(opened.client.get("/games/tug").json) == 1
            assert opened.client.post("/bots/tug", json={"bot_id": "x"}).status_code == 201
        finally:
            del opened.context.registry["tug"]  # type: ignore[attr-defined]


def test_names_from_right_to_left_leave_what_is_beside_them_in_its_place(home: House) -> None:
    """Each stands by itself; else the numbers of the order would change places with the names."""
    aleph, bet = "\u05d0\u05dc\u05e3 1", "\u05d1\u05d9\u05ea"
    about = {"seq": 1, "fault": "none", "void": False, "places": {aleph: 1, bet: 2, "c": 3}}
    match_id = home.play(aleph, bet, aleph, players=[aleph, bet, "c"], match=about)
    answer = home.client.get(f"{WEB}/matches/{match_id}").text
    assert f"The order: 1. <bdi>{aleph}</bdi>; 2. <bdi>{bet}</bdi>; 3. <bdi>c</bdi>." in answer


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("ab won: a left.", ["a", "ab"], "<bdi>ab</bdi> won: <bdi>a</bdi> left."),
        ("<i> & (.*) left", ["<i>", "(.*)"], "<bdi>&lt;i&gt;</bdi> &amp; <bdi>(.*)</bdi> left"),
        ("nobody & nothing", [], "nobody &amp; nothing"),
    ],
)
def test_names_in_a_sentence_are_found(text: str, names: list[str], expected: str) -> None:
    """The longest first; what is no name stays text."""
    assert with_names(text, names) == expected


def test_the_tabs_of_matches_are_told_apart(home: House) -> None:
    """By who plays, and by the turn; of many the first are named."""
    about = {"seq": 1, "fault": "none", "void": False, "evidence": {}, "seed": 1, "options": {}, "version": 1}
    match_id = home.play("a", "b", "a", match=about)
    many = home.play("a", "b", "a", players=list("abcdefg"))
    for path, title in (
        (match_id, "a v b"),
        (f"{match_id}/turns/1", "a v b, turn 1"),
        (many, "a v b v c v d and 3 more"),
    ):
        page = page_at(home.client, f"{WEB}/matches/{path}")
        assert page.text.startswith(f"{title} \u00b7 Noughts and Crosses \u00b7 Battlebot")


def test_a_void_match_is_no_draw(home: House) -> None:
    """One that was voided while it was played is void, and nothing else; one that was won is told to be both."""
    home.play("a", "b", None, reason="void", fault="server")
    assert tags(home) == ["void"]
    home.play("a", "b", None, reason="error", fault="server")
    assert tags(home) == ["error void", "void"]
    home.play("a", "b", "a", fault="server")
    home.play("a", "b", None)
    assert tags(home) == ["draw", "won void", "error void", "void"]


def tags(home: House) -> list[str]:
    """What is said of the end of each match on the game's page, the latest first."""
    text = home.client.get(WEB).text
    cells = re.findall(r"</a></td>\s*<td>(.*?)</td>", text[text.index('class="matches"') :], re.DOTALL)
    return [" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in cells]


def test_a_contests_page_ranks_and_shows_who_beat_whom(home: House) -> None:
    """With the share of meetings played, and the matches."""
    home.contest(bots=("a", "b", "c"), meetings=5)
    played = home.play("a", "b", "a", "autumn")
    home.play("b", "a", None, "autumn")
    live = home.begin("a", "c", contest="autumn")
    other = home.begin("x", "y")
    page = page_at(home.client, f"{WEB}/contests/autumn")
    assert page.values("progress", "max") == ["15"]
    assert page.values("progress", "value") == ["2"]
    assert "1\N{EN DASH}1\N{EN DASH}0" in page.text
    assert "0\N{EN DASH}1\N{EN DASH}1" in page.text
    assert "\u2068a\u2069 against \u2068b\u2069: 2 of 5 played" in page.values("td", "title")
    links = page.values("a", "href")
    assert f"{WEB}/matches/{played}" in links
    assert f"{WEB}/matches/{live.id}" in links
    assert f"{WEB}/matches/{other.id}" not in links
    assert page.values("body", "data-events") == [f"{WEB}/contests/autumn/events"]


def test_a_crosstable_counts_more_matches_than_the_page_lists(home: House) -> None:
    """All of the contest's, not the most recent alone."""
    home.contest(bots=("a", "b"), meetings=5)
    documents = [finished("a", "b", "a", "autumn") for _ in range(RECENT + 3)]
    meetings = [{"match": game["_id"], "bots": ["a", "b"], "n": n} for n, game in enumerate(documents)]
    reserve(home.storage, "noughtsandcrosses", "autumn", meetings)
    home.storage.archive.store(documents)
    assert f"{RECENT + 3}\N{EN DASH}0\N{EN DASH}0" in page_at(home.client, f"{WEB}/contests/autumn").text


def matches_of(page: Page) -> list[str]:
    """The ids of the finished matches that a page lists."""
    return [link.rpartition("/")[2] for link in page.values("a", "href") if "/matches/" in link]


def older_pages(client: FlaskClient, first: str) -> list[Page]:
    """A page whose list of matches goes on, and the pages to which it leads; each but the first leads back to it."""
    pages = [page_at(client, first)]
    while older := [str(attrs["href"]) for tag, attrs in pages[-1].elements if attrs.get("rel") == "next"]:
        pages.append(page_at(client, older[0]))
        assert first in pages[-1].values("a", "href")
    return pages


def test_a_contests_page_leads_to_all_its_matches(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """To each once, newest first, without a script; only the page of the newest ones is refreshed."""
    monkeypatch.setattr("battlebot.web.pages.MOST_OLDER", 7)
    home.contest(bots=("a", "b"))
    ids = [home.play("a", "b", "a", "autumn") for _ in range(RECENT + 2 * 7 + 1)]
    home.play("a", "b", "a")
    pages = older_pages(home.client, f"{WEB}/contests/autumn")
    assert [len(matches_of(page)) for page in pages] == [RECENT, 7, 7, 1]
    assert [match for page in pages for match in matches_of(page)] == ids[::-1]
    assert [page.values("body", "data-events") for page in pages[1:]] == [[]] * 3
    last = page_at(home.client, f"{WEB}/contests/autumn?before={ids[0]}")
    assert "There are no older ones." in last.texts
    with home.app.test_request_context():
        streamed = contest_snapshot("noughtsandcrosses", "autumn").data["sections"]["recent"]
    assert f"before={ids[-RECENT]}" in streamed


def test_a_games_page_leads_to_all_its_matches(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of contests, too; only the page of the newest ones is refreshed."""
    monkeypatch.setattr("battlebot.web.pages.MOST_OLDER", 7)
    home.contest(bots=("a", "b"))
    ids = [home.play("a", "b", "a", "autumn" if number % 2 else None) for number in range(RECENT + 7 + 1)]
    home.play("a", "b", None, game="connectfour")
    pages = older_pages(home.client, WEB)
    assert [len(matches_of(page)) for page in pages] == [RECENT, 7, 1]
    assert [match for page in pages for match in matches_of(page)] == ids[::-1]
    assert [page.values("body", "data-events") for page in pages[1:]] == [[], []]
    assert f"/games/noughtsandcrosses?before={ids[-RECENT]}" in pages[1].values("a", "href")
    with home.app.test_request_context():
        assert f"before={ids[-RECENT]}" in game_snapshot("noughtsandcrosses").data["sections"]["recent"]


def test_a_list_that_does_not_go_on_leads_nowhere(home: House) -> None:
    """As many matches as are shown, and no more."""
    home.contest(bots=("a", "b"))
    for _ in range(RECENT):
        home.play("a", "b", "a", "autumn")
    for path in ("", "/contests/autumn", "/player?name=a"):
        [page] = older_pages(home.client, f"{WEB}{path}")
        assert len(matches_of(page)) == RECENT


@pytest.mark.parametrize("path", ["?", "/contests/autumn?", "/player?name=a&"])
def test_pages_of_older_matches_are_not_kept_for_the_time_without_mongodb(
    home: House, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are as many as matches: whoever looks through them would push out what people look at."""
    monkeypatch.setattr("battlebot.web.stale.MOST_KEPT", 2)
    home.contest(bots=("a", "b"))
    ids = [home.play("a", "b", "a", "autumn") for _ in range(4)]
    paths = [f"{WEB}{path}", *(f"{WEB}{path}before={one}" for one in ids[1:])]
    for seen in paths:
        page_at(home.client, seen)
    home.app.extensions[CONTEXT_KEY] = replace(home.context, away=lambda: {"mongodb": 0.0})
    assert matches_of(page_at(home.client, paths[0])) == ids[::-1]
    for older in paths[1:]:
        page_at(home.client, older, 503)


def test_the_turns_of_a_replay_push_out_no_other_page(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a page of its own, and a viewer who plays a match loads them all."""
    monkeypatch.setattr("battlebot.web.stale.MOST_KEPT", 1)
    about = {"seq": 1, "fault": "none", "void": False, "evidence": {}, "seed": 1, "options": {}, "version": 1}
    match_id = home.play("a", "b", "a", match=about)
    page_at(home.client, "/")
    page_at(home.client, f"{WEB}/matches/{match_id}/turns/1")
    home.app.extensions[CONTEXT_KEY] = replace(home.context, away=lambda: {"mongodb": 0.0})
    assert "This page is shown as it was at" in page_at(home.client, "/").text
    page_at(home.client, f"{WEB}/matches/{match_id}/turns/1", 503)


def test_a_kept_page_names_the_host_of_whom_it_is_shown_to(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """One version is kept for all: whoever makes up names of hosts pushes nothing out."""
    monkeypatch.setattr("battlebot.web.stale.MOST_KEPT", 2)
    for path in (WEB, "/"):
        page_at(home.client, path)
    for root in ("http://made.up", "http://also.made.up"):
        assert f"curl -X POST {root}/bots/" in home.client.get("/", base_url=root).text
    home.app.extensions[CONTEXT_KEY] = replace(home.context, away=lambda: {"mongodb": 0.0})
    for path in (WEB, "/"):
        page = home.client.get(path, base_url="https://other.example").text
        assert "This page is shown as it was at" in page
        assert "curl -X POST https://other.example/bots/" in page


@pytest.mark.parametrize("path", ["?before=", "/contests/autumn?before=", "/player?name=a&before="])
def test_older_matches_than_one_that_is_not_there_are_an_error(home: House, path: str) -> None:
    """As in the JSON."""
    home.contest(bots=("a", "b"))
    home.play("a", "b", "a", "autumn")
    for before in ("", "none"):
        assert "before must be the id" in page_at(home.client, f"{WEB}{path}{before}", 400).text


def test_the_standings_of_very_many_bots_are_cut(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Viewers are sent them again and again. The JSON has all."""
    home.contest(bots=("ace", "bob", "cat"))
    assert "of 3 bots" not in page_at(home.client, f"{WEB}/contests/autumn").text
    monkeypatch.setattr(snapshots, "MOST_RANKED", 2)
    page = page_at(home.client, f"{WEB}/contests/autumn")
    assert "The first 2 of 3 bots; the JSON has them all." in page.text
    assert [attrs["id"] for tag, attrs in page.elements if tag == "tr" and "id" in attrs] == [
        "standing-ace",
        "standing-bob",
    ]


def test_names_in_the_standings_lead_to_the_bots_pages(home: House) -> None:
    """Also of those that have not played."""
    home.register("a", "b", HOSTILE)
    home.contest(bots=("a", "b", HOSTILE))
    home.play("a", "b", "a", "autumn")
    links = [link for link in page_at(home.client, f"{WEB}/contests/autumn").values("a", "href") if "/player?" in link]
    assert {name for link in links for name in ("a", "b", HOSTILE) if name in page_at(home.client, link).texts} == {
        *("a", "b", HOSTILE)
    }
    assert len(links) == 3


def round_robin(home: House, **fields: Any) -> None:
    """A running round-robin of three."""
    home.register("a", "b", "c")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a", "b", "c"], "meetings": 1, **fields}
    assert home.organise("POST", "", body).status_code == 201
    assert home.organise("POST", "/cup/start").status_code == 200


def test_a_contest_in_rounds_shows_them(home: House) -> None:
    """What was played with a link, what nobody came to, what is to be played."""
    round_robin(home)
    match_id = home.play("a", "b", "b", "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": match_id}, {"$set": {"round": 1}})
    contest = home.storage.contests.find("noughtsandcrosses", "cup")
    assert contest is not None
    home.storage.ledger.absent(contest, Meeting("missed", ["b", "c"], 1, round=2), "b")
    page = page_at(home.client, f"{WEB}/contests/cup")
    assert f"{WEB}/matches/{match_id}" in page.values("a", "href")
    assert f"{WEB}/matches/missed" not in page.values("a", "href")
    for text in ("Round 1", "Round 2", "absent", "to be played", "won"):
        assert text in page.text
    assert "Absent" in page.texts
    assert page.values("progress", "max") == ["3"]
    assert page.values("progress", "value") == ["2"]


def test_a_format_of_ones_own_that_plans_no_meetings_has_no_rounds(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its name: none would ever begin."""

    class Club(Open):
        NAME = "club"

    monkeypatch.setattr(formats, "_formats", lambda: {"club": Club(), "open": Open()})
    home.storage.contests.create(cup(game="noughtsandcrosses", format="club"))
    assert "Rounds" not in page_at(home.client, f"{WEB}/contests/cup").text


def test_tie_breaks_are_shown_where_somebody_is_level(home: House) -> None:
    """The columns are not there for nothing."""
    round_robin(home, points={"win": 2, "draw": 1, "loss": 0})
    assert "SB" not in page_at(home.client, f"{WEB}/contests/cup").texts
    home.play("a", "b", None, "cup", n=1)
    page = page_at(home.client, f"{WEB}/contests/cup")
    assert {"SB", "H2H", "0.5"} <= set(page.texts)
    assert "points 2/1/0" in page.text


def test_a_contest_that_has_not_begun_says_when(home: House) -> None:
    """And who withdrew."""
    home.register("a", "b", "c")
    body = {"name": "cup", "format": "knockout", "entrants": ["a", "b", "c"], "startsAt": "2126-12-01T10:00:00Z"}
    home.organise("POST", "", {**body, "endsAt": "2126-12-02T10:00:00Z"})
    home.organise("DELETE", "/cup/entrants/c")
    page = page_at(home.client, f"{WEB}/contests/cup")
    assert "2126-12-01 10:00:00" in page.text
    assert "2126-12-02 10:00:00" in page.text
    assert "Withdrawn: c ." in page.text


@pytest.mark.parametrize("bots", [0, 1, 2, 20, 21])
def test_a_contest_of_any_size_has_its_page(home: House, bots: int) -> None:
    """The crosstable ends where it could not be read."""
    home.contest(bots=tuple(f"bot {n}" for n in range(bots)))
    page = page_at(home.client, f"{WEB}/contests/autumn")
    assert ("wins\N{EN DASH}draws\N{EN DASH}losses" in page.text) == (2 <= bots <= 20)


def test_a_finished_match_shows_board_turns_and_verdict(home: House) -> None:
    """And it is not live."""
    evidence = {"bot": "b", "thinkingMs": 3001}
    match_id = home.play("a", "b", "a", reason="timeout", fault="bot")
    home.storage.database["games"].update_one({"_id": match_id}, {"$set": {"match.evidence": evidence}})
    page = page_at(home.client, f"{WEB}/matches/{match_id}")
    assert "a won: b did not answer in time. The fault lies with the bot." in page.text
    assert '{"mark":"X","space":[0,0]}' in page.text
    assert "7 ms" in page.text
    assert '"thinkingMs":3001' in page.text
    assert [attrs.get("class") for tag, attrs in page.elements if tag == "td"].count("seat-0") == 3
    assert page.values("body", "data-events") == []


def test_a_turn_is_shown_without_what_says_which_update_it_answers(home: House) -> None:
    """As sent by the SDK's bots; the JSON has all of it."""
    turns = [{"match": "m1", "mark": "X", "space": [0, 0], "version": 0, "player": "a", "time": 0}]
    match_id = home.play("a", "b", "a", turns=turns)
    assert '{"mark":"X","space":[0,0]}' in page_at(home.client, f"{WEB}/matches/{match_id}").text


def test_a_live_match_shows_its_board_and_who_is_next(home: House) -> None:
    """Its record is not linked: there is none yet."""
    match = home.begin("a", "b")
    page = page_at(home.client, f"{WEB}/matches/{match.id}")
    assert "The match is being played. Next to move: a ." in page.text
    assert page.values("body", "data-events") == [f"{WEB}/matches/{match.id}/events"]
    assert f"/games/noughtsandcrosses/{match.id}" not in page.values("a", "href")


def test_a_long_match_shows_its_last_turns(home: House) -> None:
    """All are in the JSON, to which it leads."""
    turns = [{"n": 0, "player": "a", "time": 0}] * 620
    match_id = home.play("a", "b", None, turns=turns)
    page = page_at(home.client, f"{WEB}/matches/{match_id}")
    assert "The last 500 of 620 turns" in page.text
    assert sum(tag == "tr" for tag, _ in page.elements) < 520


def test_a_match_that_was_set_up_anew_says_so(home: House) -> None:
    """Between the turns; it was nobody's turn, and nobody thought."""
    turns = [{"n": 0, "player": "a", "time": 0}, {"player": None, "time": 1, "options": {"edge": 7}, "asked": False}]
    page = page_at(home.client, f"{WEB}/matches/{home.play('a', 'b', None, turns=turns)}")
    assert 'set up anew {"edge":7}' in page.text
    assert "None" not in page.text


@pytest.mark.parametrize("path", ["/web/chess", f"{WEB}/contests/none", f"{WEB}/matches/none", f"{WEB}/x/y/z"])
def test_what_is_not_there_is_a_404_page(client: FlaskClient, path: str) -> None:
    """For people, with the sentence and the code."""
    page = page_at(client, path, 404)
    assert "404" in page.text
    assert "/" in page.values("a", "href")


def test_a_match_has_its_page_under_its_own_game_alone(home: House) -> None:
    """Another game's rules could not show it."""
    for match_id in (home.play("a", "b", "a"), home.begin("a", "b").id):
        page_at(home.client, f"{WEB}/matches/{match_id}")
        page_at(home.client, f"/web/connectfour/matches/{match_id}", 404)


def test_without_mongodb_a_live_match_is_shown_and_of_another_it_is_not_said_that_there_is_none(home: House) -> None:
    """It may be in the record."""
    match_id, live = home.play("a", "b", "a"), home.begin("a", "b").id
    home.app.extensions[CONTEXT_KEY] = replace(home.context, away=lambda: {"mongodb": 0.0})
    assert "The match is being played." in page_at(home.client, f"{WEB}/matches/{live}").text
    page_at(home.client, f"{WEB}/matches/{match_id}", 503)


def test_nothing_hostile_gets_through(home: House) -> None:
    """Names, owners and turns are whatever their authors like; none of it becomes markup."""
    a, b = HOSTILE, HOSTILE[::-1].strip()
    assert home.client.post("/bots/noughtsandcrosses", json={"bot_id": a, "owner": b}).status_code == 201
    home.contest(HOSTILE, bots=(a, b))
    turns = [{"say": HOSTILE, "<b>": ["</code><script>"], "player": a, "time": 0}]
    ids = [home.play(a, b, a, HOSTILE, turns=turns, board=[[HOSTILE[:8]]], reason="<i>", marks={"<u>": a})]
    ids.append(home.begin(a, b, contest=HOSTILE).id)
    paths = ["/", WEB, *[f"{WEB}/matches/{match_id}" for match_id in ids]]
    paths += [link for link in page_at(home.client, WEB).values("a", "href") if "/contests/" in link]
    assert len(set(paths)) == 5
    for path in paths:
        page = page_at(home.client, path)
        tags = {tag for tag, _ in page.elements}
        assert not tags & {"i", "b", "u"} - ({"i"} if "/contests/" in path else set())
        assert page.values("img", "src") == ["/assets/logo.svg"]
    nowhere = page_at(home.client, f"{WEB}/contests/{HOSTILE.replace('?', '')}x", 404)
    assert "alert(1)" in nowhere.text


def test_without_redis_pages_stand_without_live_matches(settings: Settings) -> None:
    """All that is finished is in MongoDB."""
    with house(replace(settings, redis_url="unix:///nowhere/valkey.sock")) as opened:
        opened.contest(bots=("a", "b"))
        assert "cannot be shown" in page_at(opened.client, f"{WEB}/contests/autumn").text
        assert opened.client.get(f"{WEB}/contests/autumn/events").json["code"] == "unavailable"


@pytest.mark.parametrize("name", ["style.css", "live.js", "logo.svg"])
def test_assets_are_served(client: FlaskClient, name: str) -> None:
    """Each page needs them."""
    assert client.get(f"/assets/{name}").status_code == 200


def test_a_long_match_shows_its_end_and_is_not_replayed(home: House) -> None:
    """The last turns with their numbers and times; the rest is not read for a page."""
    turns = [{"mark": "X", "space": [0, 0], "player": "ace", "time": n} for n in range(5_100)]
    match = finished("ace", "bob", "ace", turns=turns)
    match["match"] |= {"clocks": list(range(5_100)), "version": 5_100}
    home.storage.archive.store([match])
    path = f"/web/noughtsandcrosses/matches/{match['_id']}"
    text = home.client.get(path).text
    assert "The last 500 of 5100 turns" in text
    assert '<td class="n quiet">5100</td>' in text
    assert '<td class="n quiet">4600</td>' not in text
    assert "5,099 ms" in text
    assert home.client.get(f"{path}/turns/5").status_code == 404


def test_others_run_while_a_large_page_is_rendered(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranking of many bots: between its rows, not only after the last."""
    rested = []
    monkeypatch.setattr("battlebot.runtime.cooperative.MOST_S", 0.0)
    monkeypatch.setattr("battlebot.runtime.cooperative.yield_to_others", lambda: rested.append(1))
    home.contest("cup", bots=tuple(f"bot{n}" for n in range(30)))
    assert "bot29" in home.client.get("/web/noughtsandcrosses/contests/cup").text
    assert len(rested) > 30


def test_others_run_while_the_page_of_the_api_is_rendered(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its paths: it is as long as a ranking, and takes no more to be asked for."""
    rested = []
    monkeypatch.setattr("battlebot.runtime.cooperative.MOST_S", 0.0)
    monkeypatch.setattr("battlebot.runtime.cooperative.yield_to_others", lambda: rested.append(1))
    assert "/openapi.json" in home.client.get("/docs").text
    assert len(rested) > 30


def test_only_the_standings_tell_a_rank(home: House) -> None:
    """Bots may share one; the numbers of "Who beat whom" say whose column it is."""
    home.contest(bots=("a", "b", "c"))
    titles = page_at(home.client, f"{WEB}/contests/autumn").values("abbr", "title")
    assert titles.count("Rank") == 1
    assert titles.count("Column") == 1
