"""Two hundred bots in one contest: nobody is left out, nobody meets too often, and every figure agrees."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("picows")

from cluster import Cluster, Web, wait_for
from desk import Desk, differences, organiser_of

from battlebot.config import Settings

ROOT = Path(__file__).parents[2]
BOTS = 200
BOUNDED_S = 12.0


@pytest.fixture(scope="module")
def bots(house: tuple[Cluster, Web]) -> list[dict[str, str]]:
    """Their credentials."""
    return [house[1].register(f"bot{index:03}") for index in range(BOTS)]


@pytest.fixture(scope="module")
def token(house: tuple[Cluster, Web]) -> str:
    """An organiser's."""
    return organiser_of(house[0].settings)


def play(desk: Desk, bots: list[dict[str, str]], seconds: float, rounds: int | None = None) -> dict[str, Any]:
    """What the load generator saw while the bots played, `rounds` matches each; it knows the rules by itself."""
    order = {"job": "games", "core": None, "url": desk.web.ws, "watch": {}, "seconds": seconds, "bots": bots}
    order |= {"contest": desk.contest, "keep": True, "rounds": rounds}
    command = [sys.executable, "-m", "bench.load"]
    done = subprocess.run(command, input=json.dumps(order).encode(), cwd=ROOT, capture_output=True, timeout=110)
    result = dict(json.loads(done.stdout.splitlines()[-1])["result"])
    assert (result["wrong"], result["examples"]) == (0, [])
    return result


def check(desk: Desk, settings: Settings) -> Counter[str]:
    """No pair has met twice, and the standings are what the games make; bot -> how often it has played."""
    rows = desk.listed()
    assert len({frozenset((row["first"], row["second"])) for row in rows}) == len(rows)
    times = Counter(bot for row in rows for bot in (row["first"], row["second"]))
    assert {bot: row["played"] for bot, row in desk.ranking().items() if row["played"]} == times
    assert differences(settings, desk.contest) == []
    return times


def test_a_swiss_contest_of_two_hundred_is_played_to_its_end(
    house: tuple[Cluster, Web], bots: list[dict[str, str]], token: str
) -> None:
    """Three rounds: every bot plays three times, each time another, and first as often as second, give or take."""
    desk = Desk(house[1], token, "swiss")
    entrants = [bot["bot_id"] for bot in bots]
    desk.create(format="swiss", config={"rounds": 3}, entrants=entrants, meetings=1, absentAfterS=600)
    desk.ask("POST", "/swiss/start", {})
    result = play(desk, bots, seconds=90, rounds=3)
    assert result["finished"], result
    wait_for(desk.finished, "the end", 60)
    assert check(desk, house[0].settings) == dict.fromkeys(entrants, 3)
    firsts = Counter(row["first"] for row in desk.listed())
    assert {firsts[bot] for bot in entrants} <= {1, 2}


def test_a_round_robin_of_two_hundred_leaves_nobody_out(
    house: tuple[Cluster, Web], bots: list[dict[str, str]], token: str
) -> None:
    """For some seconds, then its organiser ends it: all have played, nobody another twice."""
    desk = Desk(house[1], token, "robin")
    desk.create(format="round-robin", entrants=[bot["bot_id"] for bot in bots], meetings=1, absentAfterS=600)
    desk.ask("POST", "/robin/start", {})
    play(desk, bots, seconds=BOUNDED_S)
    desk.ask("POST", "/robin/finish", {})
    wait_for(lambda: desk.ask("GET", "/robin")["progress"]["live"] == 0, "what is played to be stored", 60)
    assert len(check(desk, house[0].settings)) == BOTS
