"""A player at the TCP door meets a bot with a URL."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cluster import Cluster, Web
from peer import new_name
from tcp_peer import TcpPeer

SETTINGS = {"turn_timeout_ms": 20_000, "bot_loopback": True}
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


@pytest.fixture
def url() -> Iterator[str]:
    """Yields where the bot is asked."""
    with ThreadingHTTPServer(("127.0.0.1", 0), LastFree) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_bot_with_a_url_plays_both_boards(
    servers: Cluster, workers: Web, join: Callable[..., TcpPeer], url: str
) -> None:
    """duel-arena: two boards against the same opponent, with colours changed; then the player is free."""
    servers.bots()
    name = new_name()
    status, _ = workers.request("/bots/gomoku", {"bot_id": name, "url": url})
    assert status == 201
    player = join().find()
    log = [player.read()]
    while log[-1]["event"] != "player_is_free":
        if log[-1]["event"] == "get_move":
            taken = log[-1]["board"]["_moves"]
            x, y = next((x, y) for y in range(15) for x in range(15) if [x, y] not in taken)
            player.move(log[-1], x, y)
        log.append(player.read())
    assert log[0] == {"event": "starting_game", "against": name}
    ends = [message["board"] for message in log if message["event"] in ("win", "lose")]
    own = [board["_moves"].index([0, 0]) % 2 for board in ends]
    assert sorted(own) == [0, 1]
    assert ends[0]["_id"] < ends[1]["_id"]
