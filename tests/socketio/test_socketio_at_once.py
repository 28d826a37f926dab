"""Requests of one viewer that come at the same moment, by several POSTs: they are answered one after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from cluster import LIMIT_S, Web
from httpbots import Bots
from viewers import OriginalPolling, Viewer, game

MANY = 4  # within what a viewer may say in a second


def say_at_once(viewer: Viewer, name: str, body: Any) -> None:
    """Has a polling viewer say the same over as many connections, and returns when all are answered."""
    together = Barrier(MANY)

    def say(_: int) -> None:
        together.wait(LIMIT_S)
        viewer.say(name, body)

    with ThreadPoolExecutor(MANY) as pool:
        list(pool.map(say, range(MANY)))


def test_of_games_wanted_at_once_one_begins(nodes: tuple[Web, Web], bots: Bots) -> None:
    """All began, and the viewer was told the ticks of all of them, mixed."""
    with OriginalPolling(nodes[0]) as viewer:
        say_at_once(viewer, "NEW_GAME", game(bots.url("slow"), bots.url("good")))
        viewer.until("ERROR", MANY - 1)
        viewer.until("GAME_ENDED")
        assert {body["error"] for body in viewer.bodies("ERROR")} == {"GAME_ALREADY_RUNNING"}
        assert len(viewer.bodies("GAME_STARTED")) == 1


def test_a_game_that_is_watched_at_once_is_told_once(nodes: tuple[Web, Web], bots: Bots) -> None:
    """Each event came as often as the game was asked for."""
    with OriginalPolling(nodes[0]) as owner, OriginalPolling(nodes[1]) as viewer:
        owner.say("NEW_GAME", game(bots.url("slow"), bots.url("good")))
        say_at_once(viewer, "WATCH_GAME", {"id": owner.until("GAME_STARTED")["id"]})
        viewer.until("ERROR", MANY - 1)
        viewer.until("GAME_ENDED")
        assert {body["error"] for body in viewer.bodies("ERROR")} == {"GAME_WATCHED"}
        assert len(viewer.bodies("GAME_STARTED")) == 1
