"""A finished match's events for its viewer: all of them, in order, as its states have told them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_cube_browser import BOTS, GAME, RULES, fought
from webhouse import House

from battlebot.storage import games


def told(home: House, match_id: str, game: str = GAME) -> Any:
    """The lines, decoded."""
    answer = home.client.get(f"/web/{game}/matches/{match_id}/story")
    assert (answer.status_code, answer.mimetype) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_story_is_what_the_states_have_told(home: House) -> None:
    """From the first NEXT_TICK to the last loss; also with several ticks a question, and nothing twice."""
    match = fought(home)
    state = RULES.initial_state(BOTS, 5, match["match"]["options"])
    expected, last = list(state["events"]), state["events"]
    for turn in match["turns"]:
        state = RULES.reducer(state, turn)
        if state["events"] is not last:
            expected, last = [*expected, *state["events"]], state["events"]
    found = told(home, match["_id"])
    assert found == expected
    ticks = [data["gameInfo"]["currentTick"] for kind, data in found if kind == "NEXT_TICK"]
    assert ticks == list(range(match["currentTick"]))
    assert sum(kind == "PLAYER_LOST" for kind, _ in found) == len(match["lost"])


def test_a_story_is_told_from_a_few_turns_at_a_time(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen may read it slowly at the same time: a long match's turns would fill the memory for each of them."""
    match = fought(home)
    expected = told(home, match["_id"])
    monkeypatch.setitem(games.ENTRIES_AT_ONCE, "turns", 3)
    monkeypatch.delattr(games.Games, "find")
    assert told(home, match["_id"]) == expected


def test_where_there_is_no_story_it_says_so(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game without events, no match, one that is too long, one that the rules of now cannot replay."""
    about = {"seq": 1, "fault": "none", "void": False, "evidence": {}, "seed": 1, "options": {}, "version": 1}
    other = home.play("a", "b", "a", match=about)
    match = fought(home)
    for path in (f"noughtsandcrosses/matches/{other}", f"{GAME}/matches/{'0' * 24}"):
        answer = home.client.get(f"/web/{path}/story")
        assert (answer.status_code, answer.json["code"]) == (404, "unknown-match")
    for most, status in ((len(match["turns"]), 200), (len(match["turns"]) - 1, 404)):
        monkeypatch.setattr("battlebot.web.replay.MOST_TOLD", most)
        assert home.client.get(f"/web/{GAME}/matches/{match['_id']}/story").status_code == status
    monkeypatch.undo()
    games = home.storage.database["games"]
    games.update_one({"_id": match["_id"]}, {"$set": {"turns.3.tasks": "gone"}})
    assert told(home, match["_id"])[0][0] == "NEXT_TICK"
    games.update_one({"_id": match["_id"]}, {"$unset": {"match.seed": 1}})
    assert home.client.get(f"/web/{GAME}/matches/{match['_id']}/story").status_code == 404


def test_the_page_names_its_script_and_its_story(home: House) -> None:
    """By the game's name, of a game that has a viewer."""
    match = fought(home)
    html = home.client.get(f"/web/{GAME}/matches/{match['_id']}").text
    assert f'src="/assets/boards/{GAME}.js"' in html
    assert f'data-story="/web/{GAME}/matches/{match["_id"]}/story"' in html
    assert home.client.get(f"/assets/boards/{GAME}.js").status_code == 200
    assert b"Unlicense" in home.client.get("/assets/vendor/ogl.LICENSE").data
