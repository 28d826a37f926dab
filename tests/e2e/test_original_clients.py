"""Unmodified clients, as fragile as the original, play match after match; and what REST tells of what they played."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from cluster import Web, wait_for
from original_client import OriginalClient
from switchboard import Switchboard

SETTINGS = {"turn_timeout_ms": 3000}
MATCHES = 12
GAMES = ("numberwang", "noughtsandcrosses", "connectfour")

State = dict[str, Any]
Choose = Callable[[State], State]


def legal(game: str, bot: str) -> Choose:
    """A player that makes legal turns at random."""
    dice = random.Random(bot)

    def numberwang(state: State) -> State:
        return {"n": dice.choice([-4, 3, 7])}

    def noughtsandcrosses(state: State) -> State:
        mark = next(mark for mark, owner in state["marks"].items() if owner == bot)
        free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
        return {"mark": mark, "space": dice.choice(free)}

    def connectfour(state: State) -> State:
        free = [column for column in range(7) if not state["board"][0][column] or not state["board"][-1][column]]
        return {"column": dice.choice(free)}

    return {"numberwang": numberwang, "noughtsandcrosses": noughtsandcrosses, "connectfour": connectfour}[game]


def play(web: Web, game: str, matches: int = MATCHES) -> list[OriginalClient]:
    """Two new bots play so many matches against each other, reconnecting after each; what they saw."""
    clients = []
    for stem in ("a", "b"):
        auth = web.register(f"{stem} of {game} {time.monotonic_ns()}", game)
        clients.append(OriginalClient(web.ws, auth, legal(game, auth["bot_id"])))
    stop = threading.Event()
    threads = [threading.Thread(target=client.play_forever, args=(stop, matches)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    stop.set()
    assert [error for client in clients for error in client.errors] == []
    return clients


@pytest.mark.parametrize("game", GAMES)
def test_original_clients_play_match_after_match(web: Web, game: str) -> None:
    """Both see the same ends; each connection is closed with 1000; both have been the first to move."""
    one, two = play(web, game)
    assert len(one.finished) == MATCHES
    assert one.finished == two.finished
    assert {state["players"][0] for state in one.finished} == {one.auth["bot_id"], two.auth["bot_id"]}
    for state in one.finished:
        assert state["reason"] == "complete"
        assert state["victor"] in (*state["players"], None)
    for connection in (*one.connections, *two.connections):
        if connection.state is not None:
            assert connection.close_code == 1000


def stored_game(web: Web, match_id: str, game: str) -> State:
    """The finished match as REST tells it, once it has been archived."""
    path = f"/games/{game}/{match_id}"
    wait_for(lambda: web.request(path)[0] == 200, f"{path} in the archive")
    return web.request(path)[1]


def test_a_stored_game_has_the_originals_shape(workers: Web, meet: Switchboard) -> None:
    """The final state without `complete` and `nextPlayer`; the valid turns only, with player and time, no `valid`."""
    mover, other = meet.sit("noughtsandcrosses")
    match_id = mover.first["match"]["id"]
    mover.send({"mark": "X", "space": [0, 0], "why": "corner"})
    mover.send({"mark": "X", "space": [0, 1]})
    echo = mover.update()["turn"]
    assert mover.update()["turn"]["valid"] is False
    turns = [("O", [1, 0]), ("X", [0, 1]), ("O", [1, 1]), ("X", [0, 2])]
    other.update()
    for index, (mark, space) in enumerate(turns):
        peer, reader = (other, mover) if index % 2 == 0 else (mover, other)
        peer.send({"mark": mark, "space": space})
        assert peer.update()["state"] == reader.update()["state"]
    stored = stored_game(workers, match_id, "noughtsandcrosses")
    about = stored.pop("match")
    assert (about["fault"], about["strikes"]) == ("none", {mover.bot: 1})
    assert set(stored) == {
        *("_id", "game", "contest", "players", "victor", "reason", "startTime", "turns"),
        *("board", "marks"),
    }
    assert stored["_id"] == match_id
    assert stored["game"] == "noughtsandcrosses"
    assert stored["contest"] is None
    assert stored["players"] == [mover.bot, other.bot]
    assert (stored["victor"], stored["reason"]) == (mover.bot, "complete")
    assert stored["board"] == [["X", "X", "X"], ["O", "O", ""], ["", "", ""]]
    assert stored["marks"] == {"X": mover.bot, "O": other.bot}
    assert abs(datetime.fromisoformat(stored["startTime"]).timestamp() - time.time()) < 60
    assert len(stored["turns"]) == 5
    echo.pop("valid")
    assert stored["turns"][0] == echo
    for index, turn in enumerate(stored["turns"]):
        assert turn["player"] == (mover.bot, other.bot)[index % 2]
        assert type(turn["time"]) is int
        assert "valid" not in turn
    assert len(about["clocks"]) == len(about["serverMs"]) == 5
    lasted_ms = (
        datetime.fromisoformat(about["endTime"]) - datetime.fromisoformat(stored["startTime"])
    ).total_seconds() * 1000
    assert 0 < sum(about["clocks"]) + sum(about["serverMs"]) <= lasted_ms + 1


def test_the_list_of_games_is_newest_first_and_without_turns(workers: Web, meet: Switchboard) -> None:
    """Thirty at most."""
    played = []
    for _ in range(32):
        mover, other = meet.sit()
        mover.send({"n": 10})
        assert mover.final()["state"] == other.final()["state"]
        played.append(mover.first["match"]["id"])
        for peer in (mover, other):
            peer.close()
    stored_game(workers, played[-1], "numberwang")
    status, listed = workers.request("/games/numberwang")
    assert status == 200
    assert [game["_id"] for game in listed] == played[:1:-1]
    assert all("turns" not in game for game in listed)
    assert all(re.fullmatch("[0-9a-f]{24}", game["_id"]) for game in listed)


ENDS: dict[str, tuple[Callable[..., None], str, str]] = {
    "three strikes": (lambda mover: [mover.send({}) for _ in range(3)], "invalid", "bot"),
    "no answer": (lambda mover: None, "timeout", "bot"),
    "a goodbye": (lambda mover: mover.close(), "disconnect", "bot"),
    "a broken connection": (lambda mover: mover.reset(), "disconnect", "network"),
}


@pytest.mark.parametrize("kind", ENDS)
def test_a_loss_is_stored_with_its_reason_and_whose_fault_it_was(workers: Web, meet: Switchboard, kind: str) -> None:
    """Of a match without a valid turn, too."""
    do, reason, fault = ENDS[kind]
    mover, other = meet.sit()
    do(mover)
    assert other.final()["state"]["reason"] == reason
    stored = stored_game(workers, other.first["match"]["id"], "numberwang")
    assert (stored["victor"], stored["reason"], stored["turns"]) == (other.bot, reason, [])
    assert (stored["match"]["fault"], stored["match"]["void"]) == (fault, False)
    assert stored["match"]["evidence"]


def test_when_both_are_gone_a_draw_is_stored(workers: Web, meet: Switchboard) -> None:
    """Nobody is left to be told, and nobody has won."""
    mover, other = meet.sit()
    mover.reset()
    other.reset()
    stored = stored_game(workers, mover.first["match"]["id"], "numberwang")
    assert (stored["victor"], stored["reason"]) == (None, "disconnect")
    assert stored["match"]["fault"] in ("bot", "network")
