"""A Battlebot of real processes for tests: web nodes, workers and beat over real stores; each can be killed."""

from __future__ import annotations

import json
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from zygote import ForkedChild

from battlebot.config import Settings
from battlebot.embedded.commands import (
    BOTS,
    beat_command,
    environment,
    tcp_command,
    web_command,
    worker_command,
)
from battlebot.embedded.process import Child, Program

LIMIT_S = 30.0  # for anything that a test waits for; far more than it takes
START_S = 90.0  # for a node to start: all that it loads takes long where many start at once on few processors

_claims: deque[socket.socket] = deque(maxlen=100)  # on the ports given last; what falls out is closed


def wait_for(condition: Callable[[], Any], what: str = "", limit_s: float = LIMIT_S) -> Any:
    """Returns what `condition()` returns as soon as it is true. Fails the test if that takes longer than `limit_s`."""
    until_s, pause_s = time.monotonic() + limit_s, 0.01
    while not (answer := condition()):
        assert time.monotonic() < until_s, f"waited {limit_s:g} s in vain{': ' if what else ''}{what}"
        time.sleep(pause_s)
        # a condition that takes longer needs the processor more than to be checked often
        pause_s = min(pause_s * 1.2, 0.05)
    return answer


def free_port() -> int:
    """Returns a port that was free a moment ago, below those that systems give to outgoing connections.

    No other process of tests gets it while its part starts: its UDP twin, which no part uses, stays taken.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        claim = socket.socket(type=socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                claim.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
                continue
        _claims.append(claim)
        return port


class Web:
    """A running web node."""

    def __init__(
        self,
        settings: Settings,
        log: Path,
        wsgi_module: str = "wsgi",
        start: Callable[[Program], Child] = ForkedChild,
    ) -> None:
        self.settings = settings
        self.address = f"127.0.0.1:{settings.port}"
        self.url = f"http://{self.address}"
        self.ws = f"ws://{self.address}/"
        program = Program(name="web", command=web_command(wsgi_module), environment=environment(settings), log=log)
        self.child = start(program)
        self.log = log

    def request(self, path: str, body: Any = None, method: str | None = None) -> tuple[int, Any]:
        """Returns status and decoded body of a REST request; a `body` makes it a POST."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def wait_until_ready(self) -> None:
        """Returns when it says that all is well: a worker that has just been begun is there, too."""
        wait_for(lambda: self.request("/readyz")[0] == 200, "a ready server", START_S)

    def register(self, bot_id: str, game: str = "noughtsandcrosses") -> dict[str, str]:
        """Registers a bot; returns its credentials in the form of the original client's auth.json."""
        status, answer = self.request(f"/bots/{game}", {"bot_id": bot_id})
        assert status == 201, answer
        return answer


class Tcp:
    """A running node with the TCP door, at `address`."""

    def __init__(self, settings: Settings, log: Path, start: Callable[[Program], Child] = ForkedChild) -> None:
        self.settings = settings
        self.address = ("127.0.0.1", settings.tcp_port)
        program = Program(name="tcp", command=tcp_command(), environment=environment(settings), log=log)
        self.child = start(program)
        self.log = log

    def is_open(self) -> bool:
        """Returns whether the node listens there."""
        try:
            socket.create_connection(self.address, 1.0).close()
        except OSError:
            return False
        return True


class Cluster:
    """Starts parts over the stores of `settings`; all are stopped at the end of `cluster()`.

    `forks`: from a process that has loaded their code, without what a started one inherits, such as ignored signals.
    """

    def __init__(self, settings: Settings, folder: Path, forks: bool = True) -> None:
        self.forks = forks
        self.settings = settings
        self.folder = folder
        self.children: list[Child] = []
        self.nodes: list[Web] = []

    def web(self, wsgi_module: str = "wsgi", **changes: Any) -> Web:
        """Starts another web node; `changes` are settings of its own. Ready when this returns."""
        settings = replace(self.settings, **{"port": free_port(), **changes})
        node = Web(settings, self._log("web"), wsgi_module, self._start_of(wsgi_module))
        self.children.append(node.child)
        self.nodes.append(node)

        def answers() -> bool:
            try:
                return node.request("/healthz")[0] == 200
            except OSError:
                return False

        node.child.wait_until(answers, START_S)
        return node

    def tcp(self, **changes: Any) -> Tcp:
        """Starts another node with the TCP door; `changes` are settings of its own. Open when this returns."""
        settings = replace(self.settings, **{"tcp_port": free_port(), **changes})
        node = Tcp(settings, self._log("tcp"), self._start_of("wsgi"))
        self.children.append(node.child)
        node.child.wait_until(node.is_open, START_S)
        return node

    def worker(self, wsgi_module: str = "wsgi", name: str = "worker", **changes: Any) -> Child:
        """Starts another Celery worker, which may still be starting when this returns."""
        settings = replace(self.settings, **changes)
        command = worker_command(settings, wsgi_module, name=f"{name}{len(self.children)}")
        return self._start("worker", command, settings, wsgi_module)

    def bots(self, wsgi_module: str = "wsgi", **changes: Any) -> Child:
        """Starts another worker that asks stateless bots, also on this machine; it may still be starting then."""
        settings = replace(self.settings, bot_loopback=True, **changes)
        command = worker_command(settings, wsgi_module, BOTS, name=f"bots{len(self.children)}")
        return self._start("bots", command, settings, wsgi_module)

    def beat(self, **changes: Any) -> Child:
        """Starts Celery beat, which may still be starting when this returns."""
        settings = replace(self.settings, **changes)
        return self._start("beat", beat_command(self.folder / "schedule"), settings)

    def logs(self) -> str:
        """Returns what all parts have logged so far."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        """Stops everything, all at once: one after another would take as long as all of them together."""
        for child in self.children:
            child.ask_to_stop()
        for child in reversed(self.children):
            child.stop()

    def _start(self, name: str, command: list[str], settings: Settings, wsgi_module: str = "wsgi") -> Child:
        program = Program(name=name, command=command, environment=environment(settings), log=self._log(name))
        child = self._start_of(wsgi_module)(program)
        self.children.append(child)
        return child

    def _start_of(self, wsgi_module: str) -> Callable[[Program], Child]:
        # a module of a test's own may change the code before it is loaded
        return ForkedChild if self.forks and wsgi_module == "wsgi" else Child

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}-{len(self.children)}.log"


@contextmanager
def cluster(settings: Settings, folder: Path, forks: bool = True) -> Iterator[Cluster]:
    """Yields a cluster without any parts yet."""
    parts = Cluster(settings, folder, forks)
    try:
        yield parts
    finally:
        parts.stop()
