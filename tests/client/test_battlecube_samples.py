"""The sample bots of battlecube: by the game's own rules, behind HTTP, and over a scripted WebSocket."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import urllib.request
from collections import Counter
from typing import Any

import pytest

from battlebot.client.samples.battlecube import dumb, survivor
from battlebot.client.samples.battlecube.connected import CubeBot
from battlebot.client.samples.battlecube.question import Decide, question_of
from games import battlecube

SETUP = {"maxNumOfTicks": 200, "edgeLength": 8, "numOfTasksPerTick": 1, "speed": 0, "playerStartPositions": None}


def battle(bots: dict[str, Decide], seed: int, **setup: Any) -> dict[str, Any]:
    """The final state of a battle; a turn that is not valid fails the test."""
    state = battlecube.initial_state(list(bots), seed, {**SETUP, **setup})
    while not state["complete"]:
        for name in list(state["waitingFor"]):
            tasks = bots[name](json.loads(json.dumps(question_of(state, name))))
            turn = {"player": name, "tasks": tasks}
            assert battlecube.validate(state, turn), turn
            state = battlecube.reducer(state, turn)
    return state


@pytest.mark.long
def test_the_survivor_outlives_dumb_bots() -> None:
    """In nearly all of thirty battles against three of them."""
    random.seed(7)
    bots = {"survivor": survivor.decide, **{f"dumb {number}": dumb.decide for number in range(3)}}
    wins = Counter(battle(bots, seed)["victor"] for seed in range(30))
    assert wins["survivor"] >= 24, wins


@pytest.mark.parametrize(("edge", "tasks"), [(1, 1), (2, 1), (3, 5), (8, 20), (64, 2)])
def test_their_turns_are_valid_in_every_cube(edge: int, tasks: int) -> None:
    """However small, and however far they must plan."""
    random.seed(7)
    names = ["one", "two", "three"][: edge**3]
    for decide in (dumb.decide, survivor.decide):
        battle(dict.fromkeys(names, decide), 1, edgeLength=edge, numOfTasksPerTick=tasks, maxNumOfTicks=40)


def test_the_survivor_leaves_no_cube_and_steps_on_no_bomb() -> None:
    """Alone among bombs, which are known to it."""
    items = [{"type": "BOMB", "x": x, "y": y, "z": z} for x in range(3) for y in range(3) for z in range(3)]
    free = [item for item in items if (item["x"], item["y"], item["z"]) not in ((0, 0, 0), (0, 0, 1))]
    question = {
        "currentPlayer": {"name": "a"},
        "gameInfo": {"edgeLength": 3, "currentTick": 0, "numOfTasksPerTick": 6},
        "players": [{"name": "a", "x": 0, "y": 0, "z": 0}],
        "items": free,
    }
    cell = 0
    for task in survivor.decide(question):
        assert task["task"] == "NOOP" or task["direction"] == ("+Z" if cell == 0 else "-Z")
        cell = cell if task["task"] == "NOOP" else 1 - cell


def test_one_behind_http_answers_as_the_original_does() -> None:
    """A POST with JSON, an array with status 200; its address is what it prints."""
    command = [sys.executable, "-m", "battlebot.client.samples.battlecube.http_bot", "survivor", "--port", "0"]
    state = battlecube.initial_state(["a", "b"], 7, SETUP)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bot:
        try:
            assert bot.stdout is not None
            url = bot.stdout.readline().strip()
            body = json.dumps(question_of(state, "a")).encode()
            with urllib.request.urlopen(url, body, timeout=30) as answer:
                assert battlecube.validate(state, {"player": "a", "tasks": json.load(answer)})
        finally:
            bot.kill()


def test_one_that_connects_answers_the_same() -> None:
    """From the state that it sees."""
    bot = CubeBot(survivor.decide)
    bot.bot_id = "a"
    state = battlecube.view(battlecube.initial_state(["a", "b"], 7, SETUP), "a")
    assert bot.choose(state) == {"tasks": survivor.decide(question_of(state, "a"))}
