"""A round-robin with real bots: workers die, tasks come twice, bots leave, come late, are withdrawn, games are void."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from cluster import Cluster, Web, wait_for
from desk import GAME, Desk, differences, organiser_of
from original_client import OriginalClient
from test_contests import first_free, playing

from battlebot.config import Settings
from battlebot.embedded.process import Child
from tasks.celeryapp import make_celery

STEADY = ["ann", "bob", "cid", "dan"]
OTHERS = ["fay", "gus", "hal", "ida"]


@pytest.fixture(scope="module")
def nodes(town: Cluster) -> list[Web]:
    """Returns two web nodes."""
    return [town.web(), town.web()]


@pytest.fixture(scope="module")
def workers(town: Cluster) -> list[Child]:
    """Returns three workers, one of which may be killed, beside beat."""
    town.beat(sweep_interval_s=0.5)
    return [town.worker() for _ in range(3)]


@pytest.fixture(scope="module")
def token(town: Cluster) -> str:
    """Returns an organiser's."""
    return organiser_of(town.settings)


def entered(nodes: list[Web], contest: str, bots: list[str]) -> dict[str, OriginalClient]:
    """Registers the bots; clients of theirs for the contest, at one node after the other."""
    clients = {}
    for index, bot in enumerate(bots):
        auth = nodes[0].register(bot)
        clients[bot] = OriginalClient(nodes[index % len(nodes)].ws, auth, first_free(bot), contest, limit_s=600)
    return clients


@contextmanager
def tasks_twice(settings: Settings, contest: str) -> Iterator[None]:
    """Meanwhile every task about contests and matches is asked for again and again."""
    celery, over = make_celery(settings), threading.Event()

    def ask() -> None:
        while not over.wait(0.3):
            for _ in range(2):
                celery.send_task("tasks.contests.pair", args=(GAME, contest))
                celery.send_task("tasks.contests.sweep")
                celery.send_task("tasks.matches.archive")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def balance(pairs: list[dict[str, Any]]) -> dict[str, int]:
    """Bot -> its first moves less its second ones, in meetings played and missed."""
    moves: Counter[str] = Counter()
    for pair in pairs:
        for one in pair["meetings"]:
            second = next(bot for bot in pair["bots"] if bot != one["first"])
            moves[one["first"]] += 1
            moves[second] -= 1
    return dict(moves)


def check_sums(desk: Desk) -> None:
    """The ranking is the sum of the games that count and the meetings that were missed."""
    games = [json.loads(line) for line in desk.text("GET", f"/{desk.contest}/export.ndjson").splitlines()]
    missed = [one for pair in desk.pairs() for one in pair["meetings"] if one["state"] == "absent"]
    for bot, row in desk.ranking().items():
        won = sum(game["victor"] == bot for game in games) + sum(one["victor"] == bot for one in missed)
        drawn = sum(bot in game["players"] and game["victor"] is None for game in games)
        assert (row["wins"], row["draws"], row["score"]) == (won, drawn, 3 * won + drawn)
    assert sum(row["played"] for row in desk.ranking().values()) == 2 * (len(games) + len(missed))
    assert differences(desk.web.settings, desk.contest) == []


def test_every_pair_meets_so_often_though_workers_die_and_bots_leave_and_come_late(
    town: Cluster, nodes: list[Web], workers: list[Child], token: str
) -> None:
    """Six bots, twice each pair: one leaves for good after two games, one comes after five; a worker is killed."""
    desk = Desk(nodes[0], token)
    clients = entered(nodes, "cup", [*STEADY, "leaver", "late"])
    desk.create(format="round-robin", entrants=list(clients), meetings=2, absentAfterS=6)
    desk.ask("POST", "/cup/start", {})
    leaving = threading.Thread(target=clients["leaver"].play_forever, args=(threading.Event(), 2))
    with tasks_twice(town.settings, "cup"), playing([clients[bot] for bot in STEADY]):
        leaving.start()
        wait_for(lambda: len(desk.listed()) >= 5, "the first games", 90)
        workers[0].kill()
        with playing([clients["late"]]):
            wait_for(desk.finished, "the end", 110)
    leaving.join()
    pairs = desk.pairs()
    assert len(pairs) == 15
    for pair in pairs:
        assert (pair["played"] + pair["absent"], pair["open"], pair["left"]) == (2, 0, 0)
        assert {one["first"] for one in pair["meetings"]} == set(pair["bots"])
        assert pair["absent"] == 0 or {"leaver", "late"} & set(pair["bots"])
    assert set(balance(pairs).values()) == {0}
    assert len(clients["leaver"].finished) == 2
    assert desk.ranking()["leaver"]["absent"] >= 10 - 2 - desk.ranking()["late"]["absent"]
    assert len(clients["late"].finished) > 0
    check_sums(desk)
    assert Counter(action for action, _ in desk.actions())["finish"] == 1
    assert "Traceback" not in town.logs()


def test_a_withdrawn_bot_a_void_game_and_a_recount_agree(
    town: Cluster, nodes: list[Web], workers: list[Child], token: str
) -> None:
    """While they play one is withdrawn and a game taken back; after the end another game is, and is replayed."""
    desk = Desk(nodes[0], token, "bowl")
    clients = entered(nodes[:1], "bowl", [*OTHERS, "eve"])
    desk.create(format="round-robin", entrants=list(clients), meetings=5, absentAfterS=600)
    desk.ask("POST", "/bowl/start", {})
    with tasks_twice(town.settings, "bowl"), playing(list(clients.values())):
        wait_for(lambda: len(desk.listed()) >= 5, "the first games", 90)
        voided = [desk.listed()[0]["match"]]
        desk.ask("POST", f"/bowl/games/{voided[0]}/void", {"reason": "a cable"})
        assert desk.ask("DELETE", "/bowl/entrants/eve")["withdrawn"] == ["eve"]
        counted = played_by(desk, "eve")
        wait_for(desk.finished, "the end", 110)
        check_finished(desk)
        assert played_by(desk, "eve") == counted
        voided.append(next(row["match"] for row in desk.listed() if "eve" not in (row["first"], row["second"])))
        desk.ask("POST", f"/bowl/games/{voided[1]}/void", {"reason": "another"})
        wait_for(lambda: desk.actions()[0][0] == "finish", "the game to be played again", 90)
        check_finished(desk)
    assert not {row["match"] for row in desk.listed()} & set(voided)
    assert Counter(action for action, _ in desk.actions())["void"] == 2
    assert "Traceback" not in town.logs()


def played_by(desk: Desk, bot: str) -> int:
    """How many of the bot's games count."""
    return sum(pair["played"] for pair in desk.pairs() if bot in pair["bots"])


def check_finished(desk: Desk) -> None:
    """All that stayed have met five times, first by turns; who was withdrawn is due no more."""
    for pair in desk.pairs():
        assert (pair["open"], pair["left"], pair["due"]) == (0, 0, False)
        if "eve" not in pair["bots"]:
            firsts = [one["first"] for one in pair["meetings"]]
            assert pair["played"] == len(firsts) == 5
            assert all(one != after for one, after in pairwise(firsts))
    check_sums(desk)
