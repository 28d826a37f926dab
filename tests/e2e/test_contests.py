"""A contest as it is really run: original clients over two nodes, four workers, some of them killed meanwhile."""

from __future__ import annotations

import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cluster import Cluster, Web, wait_for
from original_client import OriginalClient

from battlebot.embedded.process import Child

GAME = "noughtsandcrosses"


def first_free(me: str) -> Any:
    """Plays the first empty space."""

    def choose(state: dict[str, Any]) -> dict[str, Any]:
        mark = next(mark for mark, bot in state["marks"].items() if bot == me)
        free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
        return {"mark": mark, "space": free[0]}

    return choose


@contextmanager
def playing(clients: list[OriginalClient]) -> Iterator[None]:
    """The clients play, connecting again after each match, as the original does; none may die of a message."""
    stop = threading.Event()
    threads = [threading.Thread(target=client.play_forever, args=(stop,)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert [error for client in clients for error in client.errors] == []


def ranking(web: Web, contest: str) -> dict[str, Any]:
    """The contest's answer, or an empty one."""
    status, answer = web.request(f"/games/{GAME}/contest/{urllib.parse.quote(contest)}")
    return answer if status == 200 else {"bots": [], "games": []}


def check_complete(answer: dict[str, Any], bots: int) -> None:
    """Every pair met exactly five times; first moves alternate; the ranking is the sum of the games."""
    pairs = Counter(tuple(sorted(game["players"])) for game in answer["games"])
    assert len(pairs) == bots * (bots - 1) // 2
    assert set(pairs.values()) == {5}
    firsts = Counter((tuple(sorted(game["players"])), game["players"][0]) for game in answer["games"])
    assert set(firsts.values()) == {2, 3}
    for row in answer["bots"]:
        won = sum(game["victor"] == row["bot_id"] for game in answer["games"])
        drawn = sum(row["bot_id"] in game["players"] and game["victor"] is None for game in answer["games"])
        assert (row["wins"], row["draws"], row["losses"]) == (won, drawn, 5 * (bots - 1) - won - drawn)
        assert row["score"] == 3 * won + drawn


@pytest.fixture(scope="module")
def nodes(town: Cluster) -> list[Web]:
    """Returns two web nodes."""
    return [town.web(), town.web()]


@pytest.fixture(scope="module")
def workers(town: Cluster) -> list[Child]:
    """Returns four workers, beside beat."""
    town.beat()
    return [town.worker() for _ in range(4)]


def test_every_pair_meets_five_times_over_two_nodes_with_workers_being_killed(
    town: Cluster, nodes: list[Web], workers: list[Child]
) -> None:
    """Four workers pair and archive at once, two are killed in the middle: 10 pairs, 50 games, no sixth meeting."""
    clients = []
    for index in range(5):
        auth = nodes[0].register(f"bot {index}")
        clients.append(OriginalClient(nodes[index % 2].ws, auth, first_free(auth["bot_id"]), "cup é", limit_s=600))
    with playing(clients):
        wait_for(lambda: len(ranking(nodes[0], "cup é")["games"]) >= 10, "the first ten games", 90)
        for worker in workers[:2]:
            worker.kill()
        wait_for(lambda: len(ranking(nodes[1], "cup é")["games"]) >= 50, "all games", 90)
        # nobody is left to meet: what still waits must not meet once more
        town.worker()
        wait_for(lambda: all(client.connections[-1].state is None for client in clients), "all waiting")
        check_complete(ranking(nodes[0], "cup é"), 5)
        late = nodes[0].register("late bot")
        latecomer = OriginalClient(nodes[0].ws, late, first_free("late bot"), "cup é", limit_s=600)
        with playing([latecomer]):
            wait_for(lambda: len(ranking(nodes[1], "cup é")["games"]) >= 75, "the latecomer's games", 90)
    check_complete(ranking(nodes[0], "cup é"), 6)
    faults = Counter(game["match"]["fault"] for game in ranking(nodes[0], "cup é")["games"])
    assert faults == {"none": 75}
    assert "Traceback" not in town.logs()


def test_two_contests_and_no_contest_never_mix(nodes: list[Web], workers: list[Child]) -> None:
    """A bot of one contest meets bots of that contest only, though all wait at the same node."""
    web = nodes[0]
    clients = []
    for contest in ("one", "two", None):
        for index in range(2):
            auth = web.register(f"{contest}{index}")
            clients.append(OriginalClient(web.ws, auth, first_free(auth["bot_id"]), contest, limit_s=600))
    with playing(clients):
        for contest in ("one", "two"):
            wait_for(lambda contest=contest: len(ranking(web, contest)["games"]) == 5, contest, 60)
        wait_for(lambda: len(clients[-1].finished) >= 5, "matches outside contests")
    for client in clients:
        for state in client.finished:
            assert len({bot[:-1] for bot in state["players"]}) == 1
