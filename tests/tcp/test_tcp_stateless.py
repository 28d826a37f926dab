"""A player at the TCP door meets a bot with a URL."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cluster import Cluster, Web
from peer import new_name
from tcp_peer import Message, TcpPeer

TURN_S = 15.0
SETTINGS = {"turn_timeout_ms": int(TURN_S * 1000), "bot_loopback": True}
TCP_SETTINGS = SETTINGS


class LastFree(BaseHTTPRequestHandler):
    """A bot that takes the last free space, column after column."""

    def do_POST(self) -> None:
        board = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["state"]["board"]
        x, y = next((x, y) for x in range(14, -1, -1) for y in range(14, -1, -1) if not board[y][x])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"x": x, "y": y}).encode())

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture(scope="module")
def bot(servers: Cluster, workers: Web) -> Iterator[str]:
    """Yields the name of a bot with a URL."""
    servers.bots()
    with ThreadingHTTPServer(("127.0.0.1", 0), LastFree) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = new_name()
        url = f"http://127.0.0.1:{server.server_port}/"
        status, _ = workers.request("/bots/gomoku", {"bot_id": name, "url": url})
        assert status == 201
        yield name
        server.shutdown()


def play_both(player: TcpPeer, columns: int = 1) -> list[Message]:
    """Takes free spaces of the first row, so many columns apart; returns what it is told until it is free."""
    log = [player.find().read()]
    while log[-1]["event"] != "player_is_free":
        if log[-1]["event"] == "get_move":
            taken = log[-1]["board"]["_moves"]
            x, y = next((x, y) for y in range(15) for x in range(0, 15, columns) if [x, y] not in taken)
            player.move(log[-1], x, y)
        log.append(player.read())
    return log


def boards(log: list[Message]) -> tuple[list[Any], list[int]]:
    """Returns the boards that have ended, and the number of the player's first move on each."""
    ends = [message["board"] for message in log if message["event"] in ("win", "lose")]
    return ends, [board["_moves"].index([0, 0]) for board in ends]


def test_a_bot_with_a_url_plays_both_boards(bot: str, join: Callable[..., TcpPeer]) -> None:
    """duel-arena: two boards against the same opponent, with colours changed; then the player is free."""
    log = play_both(join())
    assert log[0] == {"event": "starting_game", "against": bot}
    ends, own = boards(log)
    assert sorted(own) == [0, 1]
    assert ends[0]["_id"] < ends[1]["_id"]


def test_it_begins_the_second_board_at_once_if_it_has_ended_the_first(bot: str, join: Callable[..., TcpPeer]) -> None:
    """The worker that asks it then begins that board, too; it would be asked only when its time is over."""
    player, own = join(), list[int]()
    while own != [0, 1]:
        began_s = time.monotonic()
        log = play_both(player, columns=2)
        assert [message["event"] for message in log if message["event"] in ("win", "lose")] == ["lose", "lose"]
        _, own = boards(log)
        assert time.monotonic() - began_s < TURN_S / 2
