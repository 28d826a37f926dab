"""Bots behind HTTP: a server in the run's own process, which no fault hits, and a diary each."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from battlebot.stateless.trial import OPPONENT
from chaos.bots import Temper
from chaos.diary import Diary

GAME = "connectfour"


class Asked:
    """One bot. It may be asked a question twice, also after newer ones: a worker was paused before it sent it."""

    def __init__(self, row: dict[str, Any], diary: Diary) -> None:
        self._diary, self._temper = diary, Temper(row, diary)
        self._newest: dict[str, int] = {}
        self._guard = threading.Lock()

    def turn(self, question: dict[str, Any]) -> dict[str, Any]:
        """Returns its turn. Notes what it is told, unless it is tested."""
        about, state = question["match"], question["state"]
        match, version = about["id"], about["version"]
        with self._guard:
            is_new = version >= self._newest.get(match, 0) and OPPONENT.format(1) not in state["players"]
            if is_new:
                self._newest[match] = version
                known = {"strikes": about["strikes"], "remaining_ms": about["remainingMs"]}
                self._diary.note("told", match=match, version=version, state=state, turn=None, **known)
        return dict(self._temper.choose(state, match, version))


class Server(ThreadingHTTPServer):
    """Serves all of them: the path is the bot's name."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, bots: dict[str, Asked]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bots = bots

    def handle_error(self, *_: Any) -> None:
        """Prints nothing when a worker is killed while it asks."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(self.server.bots[self.path.strip("/")].turn(question)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


@contextmanager
def answering(names: Sequence[str], think_s: float, seed: int, folder: Path) -> Iterator[dict[str, str]]:
    """Has bots of these names answer within the `with` block, with diaries in `folder`; yields name -> URL."""
    bots = {}
    for number, name in enumerate(names):
        row = {"bot_id": name, "game": GAME, "seed": f"{seed} {number}", "think_s": think_s, "vice": ""}
        bots[name] = Asked(row, Diary(folder / f"{name}.diary", name))
    with Server(bots) as server:
        threading.Thread(target=server.serve_forever, name="answering", daemon=True).start()
        try:
            yield {name: f"http://127.0.0.1:{server.server_port}/{name}" for name in names}
        finally:
            server.shutdown()
