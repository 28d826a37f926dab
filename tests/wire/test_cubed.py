"""Battle-cubed's messages: what is read of them, what is wrong with them, and what a state becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from battlebot.errors import BadAddress, BadMessage, Unavailable
from battlebot.wire.cubed import (
    bad_url,
    ended,
    failed,
    read_new_game,
    read_setup,
    read_watched,
    refusal,
    started,
    told,
)

SETUP = {"maxNumOfTicks": 50, "edgeLength": 8}
BOT = {"name": "teebot", "url": "https://bots.example.org/teebot"}


def test_a_game_is_read_with_what_was_given() -> None:
    """Numbers in quotes and 8.0 are numbers, as for the original; other keys are left; null is not given."""
    setup = {**SETUP, "edgeLength": "8", "speed": 5.0, "numOfTasksPerTick": None, "theme": 1}
    wanted = read_new_game(
        {"setup": {**setup, "playerStartPositions": []}, "players": [{**BOT, "color": "red"}], "x": 1}
    )
    assert wanted.setup == {"maxNumOfTicks": 50, "edgeLength": 8, "speed": 5, "playerStartPositions": []}
    assert wanted.players == (("teebot", "https://bots.example.org/teebot"),)


POSITIONS: list[tuple[str, Any, Any]] = [
    ("as the original has them", [{"name": "a", "x": 0, "y": 1, "z": 2}], [{"name": "a", "x": 0, "y": 1, "z": 2}]),
    ("in quotes", [{"name": "a", "x": "0", "y": "1", "z": 2.0}], [{"name": "a", "x": 0, "y": 1, "z": 2}]),
    ("with other keys", [{"name": "a", "x": 0, "y": 1, "z": 2, "hue": 9}], [{"name": "a", "x": 0, "y": 1, "z": 2}]),
    ("no numbers", [{"name": 1, "x": "", "y": None, "z": True}], [{"name": 1, "x": "", "y": None, "z": True}]),
    ("a coordinate missing", [{"name": "a", "x": "0"}], [{"name": "a", "x": 0}]),
    ("no objects", ["a", None, []], ["a", None, []]),
    ("no list", {"a": [0, 0, 0]}, {"a": [0, 0, 0]}),
]


@pytest.mark.parametrize(("given", "read"), [row[1:] for row in POSITIONS], ids=[row[0] for row in POSITIONS])
def test_start_positions_are_read_like_the_rest_of_the_setup(given: Any, read: Any) -> None:
    """Numbers may be in quotes, and other keys are left out; anything else is kept for the game to refuse."""
    setup = read_new_game({"setup": {**SETUP, "playerStartPositions": given}, "players": [BOT]}).setup
    assert json.dumps(setup["playerStartPositions"]) == json.dumps(read), "2.0 is not 2 here"


def test_a_game_is_as_large_as_may_be() -> None:
    """All four numbers, of up to nine digits in quotes; 64 players; also capital letters in a url's scheme."""
    setup = {"maxNumOfTicks": "9" * 9, "edgeLength": 999_999_999.0, "speed": "0", "numOfTasksPerTick": "2"}
    players = [{"name": f"bot {number}", "url": "HTTP://bots.example.org"} for number in range(64)]
    wanted = read_new_game({"setup": setup, "players": players})
    assert wanted.setup == {"maxNumOfTicks": 10**9 - 1, "edgeLength": 10**9 - 1, "speed": 0, "numOfTasksPerTick": 2}
    assert all(type(value) is int for value in wanted.setup.values())
    assert [name for name, _ in wanted.players] == [f"bot {number}" for number in range(64)]


WRONG: list[tuple[str, Any, list[tuple[list[Any], str]]]] = [
    ("null", None, [(["setup"], "any.required"), (["players"], "any.required")]),
    ("a text", "x", [([], "object.base")]),
    ("both missing", {}, [(["setup"], "any.required"), (["players"], "any.required")]),
    ("null setup", {"setup": None, "players": [BOT]}, [(["setup"], "any.required")]),
    ("a list as setup", {"setup": [], "players": [BOT]}, [(["setup"], "object.base")]),
    ("numbers missing", {"setup": {}, "players": [BOT]}, [(["setup", key], "any.required") for key in SETUP]),
    ("true", {"setup": {**SETUP, "speed": True}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("half", {"setup": {**SETUP, "speed": 0.5}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    (
        "more positions than players there may be",
        {"setup": {**SETUP, "playerStartPositions": [{}] * 65}, "players": [BOT]},
        [(["setup", "playerStartPositions"], "array.max")],
    ),
    ("digits", {"setup": {**SETUP, "speed": "9" * 10}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    (
        "a float of ten digits",
        {"setup": {**SETUP, "speed": 1e9}, "players": [BOT]},
        [(["setup", "speed"], "number.base")],
    ),
    ("others' digits", {"setup": {**SETUP, "speed": "٣"}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("an empty url", {"setup": SETUP, "players": [{**BOT, "url": ""}]}, [(["players", 0, "url"], "string.base")]),
    ("a number as url", {"setup": SETUP, "players": [{**BOT, "url": 4001}]}, [(["players", 0, "url"], "string.base")]),
    ("infinite", {"setup": {**SETUP, "speed": 1e300}, "players": [BOT]}, [(["setup", "speed"], "number.base")]),
    ("an object as players", {"setup": SETUP, "players": {}}, [(["players"], "array.base")]),
    ("nobody", {"setup": SETUP, "players": []}, [(["players"], "array.length")]),
    ("65", {"setup": SETUP, "players": [BOT] * 65}, [(["players"], "array.length")]),
    (
        "bad players",
        {"setup": SETUP, "players": [{"name": 1, "url": "http://x"}, {"name": "a"}, "x"]},
        [
            (["players", 0, "name"], "string.base"),
            (["players", 1, "url"], "string.base"),
            (["players", 2, "name"], "string.base"),
            (["players", 2, "url"], "string.base"),
        ],
    ),
    (
        "another kind of address",
        {"setup": SETUP, "players": [{**BOT, "url": "nats://bots.teebot"}]},
        [(["players", 0, "url"], "string.uri")],
    ),
    (
        "a name that nobody can see",
        {"setup": SETUP, "players": [{**BOT, "name": "\u200b"}]},
        [(["players", 0, "name"], "string.base")],
    ),
]


@pytest.mark.parametrize(("payload", "problems"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_all_that_is_wrong_is_told_with_its_place(payload: Any, problems: list[tuple[list[Any], str]]) -> None:
    """Each row: the payload, where and what is wrong."""
    with pytest.raises(BadMessage) as raised:
        read_new_game(payload)
    name, body = refusal(raised.value)
    assert (name, body["error"], body["code"]) == ("ERROR", "INVALID_GAME_CONFIGURATION", "bad-message")
    assert [(row["path"], row["type"]) for row in body["details"]] == problems
    assert all(row["message"] for row in body["details"])


def test_an_error_without_problems_is_told_as_a_sentence() -> None:
    """And under the name that it is given."""
    body = refusal(Unavailable("Redis does not answer now."), "UNAVAILABLE")[1]
    assert body == {"error": "UNAVAILABLE", "details": "Redis does not answer now.", "code": "unavailable"}


def test_a_url_that_may_not_be_asked_is_told_at_its_player() -> None:
    """Like one that is none."""
    name, body = refusal(bad_url(BadAddress("Only public addresses."), 3))
    problem = {"message": "Only public addresses.", "path": ["players", 3, "url"], "type": "string.uri"}
    assert (name, body["error"], body["details"]) == ("ERROR", "INVALID_GAME_CONFIGURATION", [problem])


@pytest.mark.parametrize(
    ("payload", "setup"),
    [
        ({"edgeLength": 9}, {"edgeLength": 9}),
        ({**SETUP, "speed": 3}, {"edgeLength": 8, "speed": 3}),
        ({"numOfTasksPerTick": "2", "speed": None}, {"numOfTasksPerTick": 2}),
    ],
)
def test_a_setup_changes_what_may_change(payload: Any, setup: dict[str, int]) -> None:
    """Size, speed and number of tasks."""
    assert read_setup(payload) == setup


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({"maxNumOfTicks": 9}, ([], "object.missing")),
        ({}, ([], "object.missing")),
        (None, ([], "object.base")),
        ([], ([], "object.base")),
        ({"speed": "soon"}, (["speed"], "number.base")),
    ],
)
def test_something_of_it_must_be_there(payload: Any, problem: tuple[list[Any], str]) -> None:
    """What is wrong is told with its place within the setup, which is the whole body here."""
    with pytest.raises(BadMessage) as raised:
        read_setup(payload)
    assert [(row["path"], row["type"]) for row in raised.value.details["problems"]] == [problem]


def test_a_watched_game_is_named() -> None:
    """By itself or in an object."""
    assert read_watched({"id": "x"}) == read_watched("x") == "x"
    for payload in (None, {}, {"id": 1}, [], 3):
        with pytest.raises(BadMessage) as raised:
            read_watched(payload)
        assert [(row["path"], row["type"]) for row in raised.value.details["problems"]] == [(["id"], "string.base")]


def test_the_events_of_a_state_name_the_match() -> None:
    """In the place where the original has it; the state stays as it was."""
    tick = ["NEXT_TICK", {"gameInfo": {"currentTick": 1}, "players": [], "items": []}]
    state = {"events": [["PLAYER_LOST", {"name": "a", "cause": "x"}], tick]}
    assert told(state, "m") == [
        ("PLAYER_LOST", {"name": "a", "cause": "x"}),
        ("NEXT_TICK", {"gameInfo": {"id": "m", "currentTick": 1}, "players": [], "items": []}),
    ]
    assert tick[1] == {"gameInfo": {"currentTick": 1}, "players": [], "items": []}
    assert told({}, "m") == []


def test_a_game_that_has_started_is_named() -> None:
    """So that others can watch it."""
    assert started("m") == ("GAME_STARTED", {"id": "m"})


def test_the_end_has_both_names_of_a_score() -> None:
    """A winner only where there is one; urls only of those that the viewer named; what is known after a failure."""
    scores = [{"name": "a", "score": 3}, {"name": "b", "score": 5}]
    a, b = ({"name": name, "url": url, "score": n, "highScore": n} for name, url, n in (("a", "u", 3), ("b", "v", 5)))
    won = ended({"victor": "b", "scores": scores}, "m", {"a": "u", "b": "v"})
    assert won == ("GAME_ENDED", {"id": "m", "result": "WINNER_FOUND", "winner": b, "scores": [a, b]})
    tie = ended({"victor": None, "scores": scores}, "m", {})[1]
    assert (tie["result"], "winner" in tie, "url" in tie["scores"][0]) == ("TIE", False, False)
    assert ended({"victor": None}, "m", {})[1]["scores"] == []
    known = {"lost": [{"name": "a", "score": 3, "cause": "x"}], "positions": [{"name": "b", "x": 0}], "currentTick": 8}
    cut_short = ended({"victor": None, **known}, "m", {})[1]
    assert cut_short["result"] == "TIE"
    assert [(row["name"], row["score"], row["highScore"]) for row in cut_short["scores"]] == [("a", 3, 3), ("b", 8, 8)]
    name, body = failed("error")
    assert (name, body["error"], body["code"]) == ("ERROR", "GAME_FAILED", "error")
    assert body["details"].endswith(".")
