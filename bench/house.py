"""The servers to measure, a whole Battlebot on fresh stores and the echo, with their processes pinned to cores."""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from battlebot.config import load_settings
from battlebot.embedded.address import server_url
from battlebot.embedded.commands import environment, web_command
from battlebot.embedded.process import Child, Program
from battlebot.embedded.server import Server, running
from battlebot.redisio.connection import connect
from bench.machine import family, pin, rss_kb, two_cores

READY_S = 30.0
DOORS = ("web", "tcp")  # the parts that get the first core
PARTS = ("web", "valkey", "mongod", "worker", "bots", "beat")

# All load comes from one address, which registers and logs in as often as it can
LIMITS = {
    "registrations_per_hour": 1_000_000,
    "max_connections_per_address": 1_000_000,
    "requests_per_minute": 100_000_000,
    "max_connections_per_bot": 10_000,
    "relogin_free": 10_000,
    "contests_per_minute": 100_000,
    "waiting_timeout_s": 86_400.0,
    "tcp_port": 0,
}


class House:
    """A running Battlebot: `url` for REST, `ws` for bots, `parts` the process ids of each part."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = server.url
        self.ws = _websocket_url(server.url)
        parts = (*PARTS, "tcp") if server.settings.tcp_port else PARTS
        self.parts = {part: family(server.child(part).pid) for part in parts}
        cores = two_cores()
        if cores is not None:
            for part, pids in self.parts.items():
                pin(pids, cores[0] if part in DOORS else cores[1])

    def keep_journal(self, appendfsync: str) -> None:
        """Make Valkey fsync its journal `always`, before each reply, or `everysec`."""
        with connect(self.server.settings.redis_url) as client:
            client.config_set("appendfsync", appendfsync)

    def close_pairing(self) -> None:
        """Stop beat and the workers, so that bots waiting in a contest stay waiting."""
        self.stop("beat", "worker", "bots")

    def stop(self, *parts: str) -> None:
        """Stop parts for good."""
        for part in parts:
            self.server.supervisor.stop_one(part)
            del self.parts[part]

    def second_node(self, core: int) -> str:
        """Start another web node on the first (0) or second (1) core; return its address for bots.

        It runs as long as the house.
        """
        settings = replace(self.server.settings, port=free_port())
        program = Program(
            name="second",
            command=web_command("wsgi"),
            environment=environment(settings),
            log=settings.data / "logs" / "second.log",
        )
        self.server.supervisor.start(program)
        url = server_url(settings.host, settings.port)
        # gunicorn opens the port for a moment before it has a worker
        _wait_until(lambda: _is_ready(url), "the second node is not ready")
        self.parts["second"] = family(self.server.child("second").pid)
        cores = two_cores()
        if cores is not None:
            pin(self.parts["second"], cores[core])
        return _websocket_url(url)

    def register(self, count: int, game: str) -> list[dict[str, str]]:
        """Register bots through the REST API; return their credentials."""

        def register_one(number: int) -> dict[str, str]:
            status, answer = self.request(f"/bots/{game}", {"bot_id": f"bot{number:06}"})
            assert status == 201, answer
            return dict(answer)

        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(register_one, range(count)))

    def request(self, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a REST request, a POST if there is a `body`; return the status and the decoded answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=READY_S) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def not_archived(self, game: str, turns: dict[str, int], limit_s: float = READY_S) -> list[str]:
        """Sentences about those of the matches (id -> number of turns) that are not archived as they were played."""
        missing, until_s = list(turns), time.monotonic() + limit_s
        sentences: list[str] = []
        while missing:
            found = {match_id: self.request(f"/games/{game}/{match_id}") for match_id in missing}
            for match_id, (status, match) in found.items():
                if status == 200:
                    missing.remove(match_id)
                    if len(match["turns"]) != turns[match_id]:
                        sentences.append(f"{match_id}: {turns[match_id]} turns played, {len(match['turns'])} stored")
            if missing and time.monotonic() > until_s:
                return [*sentences, f"{len(missing)} of {len(turns)} matches not archived after {limit_s:g} s"]
            time.sleep(0.2 if missing else 0.0)
        return sentences

    def rss_kb(self, part: str = "web") -> int:
        """Resident memory of a part in KB."""
        return rss_kb(self.parts[part])

    def complaints(self) -> list[str]:
        """The lines of level warning or above in the logs of Battlebot's own parts."""
        found = []
        for part in ("web", "worker", "bots", "beat"):
            log = self.server.settings.data / "logs" / f"{part}.log"
            for line in log.read_text(errors="replace").splitlines():
                event = json.loads(line) if line.startswith("{") else {}
                if event.get("level") not in ("info", "debug") and event.get("logger") != "py.warnings":
                    found.append(f"{part}: {line}")
        return found


@contextmanager
def house(journal: str | None = None, **changes: Any) -> Iterator[House]:
    """A whole, ready Battlebot on fresh stores. `journal` as in `keep_journal`; `changes` override settings.

    Raises RuntimeError if it does not get ready, or at the end if a part was restarted.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        settings = load_settings(
            {}, None, data=Path(folder), port=free_port(), log_format="json", worker_concurrency=1, **LIMITS | changes
        )
        with running(settings, logs_in_files=True) as server:
            made = House(server)
            _wait_until(lambda: _is_ready(server.url), "the server is not ready")
            # the workers have forked since: pin their children too
            made = House(server)
            if journal is not None:
                made.keep_journal(journal)
            yield made
            for part, pids in made.parts.items():
                if server.child(part).pid not in pids:
                    raise RuntimeError(f"{part} died and was started again")


@contextmanager
def echo_server() -> Iterator[tuple[str, list[int]]]:
    """Run the echo under gunicorn with one gevent worker, on the core for what is measured; yield its URL and pids."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-k", "gevent", "-w", "1", "-b", f"127.0.0.1:{port}"]
    command += ["--graceful-timeout", "1", "--no-control-socket", "--log-level", "warning", "bench.echo_app"]
    child = Child(Program(name="echo", command=command))
    try:
        # the worker is forked after the port is open
        child.wait_until(lambda: _listens(port) and len(family(child.pid)) > 1, READY_S)
        cores = two_cores()
        if cores is not None:
            pin(family(child.pid), cores[0])
        yield f"ws://127.0.0.1:{port}/", family(child.pid)
    finally:
        child.stop()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _websocket_url(url: str) -> str:
    return url.replace("http", "ws", 1) + "/"


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url + "/readyz", timeout=READY_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _wait_until(condition: Callable[[], bool], otherwise: str) -> None:
    until_s = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > until_s:
            raise RuntimeError(otherwise)
        time.sleep(0.05)
