"""A champion's contest of real bots in battlecube: four over two nodes, by WebSocket, a worker killed meanwhile."""

from __future__ import annotations

import csv
import io
import random
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from cluster import Cluster, Web, cluster, wait_for
from desk import Desk, differences, organiser_of

from battlebot.cli.verify import Verifier
from battlebot.client import Bot, run
from battlebot.client.credentials import Credentials
from battlebot.config import Settings
from battlebot.rules.registry import discover
from battlebot.storage import Storage

sys.path.insert(0, str(Path(__file__).parent.parent / "stateless"))

from httpbots import http_bots

GAME = "battlecube"
BOTS = ["ann", "bob", "cid", "dan"]
BATTLES = 6
AXES = ("x", "y", "z")


class Walker(Bot):
    """Walks about inside the cube; now and then it bombs a cell; `dan` soon walks out."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.ends: list[dict[str, Any]] = []

    def choose(self, state: dict[str, Any]) -> dict[str, Any]:
        """One task."""
        own = next(row for row in state["positions"] if row["name"] == self.bot_id)
        edge = state["edgeLength"]
        if self.bot_id == "dan":
            return {"tasks": [{"task": "MOVE", "direction": "-X"}]}
        if self.dice.random() < 0.3:
            return {"tasks": [{"task": "PLACE_BOMB", **{axis: self.dice.randrange(edge) for axis in AXES}}]}
        ways = [f"+{axis.upper()}" for axis in AXES if own[axis] < edge - 1]
        ways += [f"-{axis.upper()}" for axis in AXES if own[axis] > 0]
        return {"tasks": [{"task": "MOVE", "direction": self.dice.choice(ways)}]}

    def finished(self, state: dict[str, Any]) -> None:
        """Keeps it."""
        self.ends.append(state)


def playing(nodes: list[Web], names: list[str] = BOTS) -> dict[str, tuple[Walker, threading.Thread]]:
    """The bots, connected in turn to one node and the other, until they have played all battles."""
    made = {}
    for index, name in enumerate(names):
        web, bot = nodes[index % len(nodes)], Walker(index)
        auth = web.register(name, GAME)
        own = Credentials(game=GAME, bot_id=name, pass_hash=auth["pass_hash"])
        options = {"credentials": own, "matches": BATTLES, "idle_timeout_s": 60.0}
        thread = threading.Thread(target=run, args=(bot, web.url, GAME, "cup"), kwargs=options)
        made[name] = (bot, thread)
    return made


def test_four_bots_fight_for_the_champion(parts: Cluster) -> None:
    """Six battles, each once: bots, JSON, CSV, ranking, pages and ratings tell of the same order of finish."""
    nodes = [parts.web(), parts.web()]
    workers = [parts.worker(), parts.worker()]
    parts.beat()
    bots = playing(nodes)
    desk = Desk(nodes[0], organiser_of(parts.settings), game=GAME)
    shown = desk.create(
        format="champion", entrants=BOTS, config={"battles": BATTLES}, options={"edgeLength": 4, "maxNumOfTicks": 40}
    )
    assert (shown["meetings"], shown["together"]) == (BATTLES, True)
    for _, thread in bots.values():
        thread.start()
    desk.ask("POST", "/cup/start", {})
    wait_for(lambda: desk.ask("GET", "/cup")["progress"]["played"] >= 2, "two battles", 90)
    workers[0].kill()
    wait_for(desk.finished, "the end", 120)
    for _, thread in bots.values():
        thread.join(30)
    check_agreement(desk, {name: bot.ends for name, (bot, _) in bots.items()})
    page = desk.page("/cup")
    assert f"{BATTLES} battles of all" in page
    assert "Scored" in page
    storage = Storage(parts.settings)
    assert Verifier(storage, discover()).report("cup", GAME)["findings"] == []
    # who rated may be the one that was killed: its lock has to run out
    rated = lambda: {row["bot_id"]: row["matches"] for row in storage.ratings.page(GAME, 10)}  # noqa: E731
    wait_for(lambda: rated() == dict.fromkeys(BOTS, BATTLES), "ratings", 90)
    storage.close()
    assert "Traceback" not in parts.logs()


def check_agreement(desk: Desk, ends: dict[str, list[dict[str, Any]]]) -> None:
    """What the bots saw, the stored battles, the CSV and the ranking tell the same."""
    games = desk.web.request(f"/games/{GAME}/contest/cup")[1]["games"]
    assert len(games) == BATTLES
    for game in games:
        assert sorted(game["players"]) == BOTS
        places = game["match"]["places"]
        ranks = [sorted(bot for bot in BOTS if places[bot] == place) for place in sorted(set(places.values()))]
        assert ranks == [sorted(rank) for rank in game["places"]]
        assert (game["victor"] is None) == (len(ranks[0]) > 1)
        assert len(ranks) == 1 or "The order: 1. " in game["match"]["sentence"]
    assert all(len(seen) == BATTLES for seen in ends.values())
    scores = sorted(str(sorted((row["name"], row["score"]) for row in game["scores"])) for game in games)
    for seen in ends.values():
        assert sorted(str(sorted((row["name"], row["score"]) for row in end["scores"])) for end in seen) == scores
    for bot, row in desk.ranking().items():
        assert row["wins"] == row["score"] == sum(game["victor"] == bot for game in games)
        assert row["scored"] == sum(one["score"] for game in games for one in game["scores"] if one["name"] == bot)
        assert row["wins"] + row["draws"] + row["losses"] == row["played"] == BATTLES
    listed = list(csv.DictReader(io.StringIO(desk.text("GET", "/cup/export.csv"))))
    assert {row["players"] for row in listed} == {"/".join(game["players"]) for game in games}
    assert all(len(row["places"].split()) == 4 for row in listed)


def test_bots_behind_http_and_connected_ones_fight_together(settings: Settings, tmp_path: Path) -> None:
    """Three at addresses, one of them slow, and one by WebSocket: each battle of all four, once."""
    with cluster(replace(settings, bot_loopback=True), tmp_path) as parts, http_bots() as http:
        web = parts.web()
        parts.worker()
        parts.bots()
        parts.beat()
        web.wait_until_ready()
        for name, behaviour in (("bob", "good"), ("cid", "slow"), ("dan", "good")):
            status, answer = web.request(f"/bots/{GAME}", {"bot_id": name, "url": http.url(behaviour)})
            assert status == 201, answer
        bots = playing([web], ["ann"])
        desk = Desk(web, organiser_of(parts.settings), game=GAME)
        fields = {"entrants": BOTS, "config": {"battles": BATTLES}, "options": {"edgeLength": 4, "maxNumOfTicks": 6}}
        desk.create(format="champion", **fields)
        desk.ask("POST", "/cup/start", {})
        for _, thread in bots.values():
            thread.start()
        wait_for(desk.finished, "the end", 120)
        for bot, thread in bots.values():
            thread.join(30)
            assert len(bot.ends) == BATTLES
        games = web.request(f"/games/{GAME}/contest/cup")[1]["games"]
        assert [sorted(game["players"]) for game in games] == [BOTS] * BATTLES
        rows = desk.ranking()
        assert {row["played"] for row in rows.values()} == {BATTLES}
        assert all(row["scored"] > 0 for row in rows.values())
        assert differences(parts.settings, game=GAME) == []
        assert "Traceback" not in parts.logs()
