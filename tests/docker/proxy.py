"""docker/nginx.conf in a real nginx without root: the same file, with this machine's addresses and folders."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import websocket
from cluster import LIMIT_S, Web, free_port

from battlebot.embedded.process import Child, Program

CONFIGURATION = Path(__file__).parents[2] / "docker" / "nginx.conf"
NOBODY = 65534
EVIL = "203.0.113.7"  # the address that a client claims to have


def find_nginx() -> str | None:
    """Returns the path of nginx; Debian installs it where only root's PATH looks."""
    return shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))


def rendered(nodes: Sequence[str], port: int, folder: Path) -> str:
    """Returns the configuration with its two nodes at `nodes` (`host:port`), listening at 127.0.0.1:`port`."""
    text = CONFIGURATION.read_text().replace(" /tmp/", f" {folder}/")
    places = {
        # older nginx has no `resolve`, and here are no names to look up
        "server web1:3000 resolve ": f"server {nodes[0]} ",
        "server web2:3000 resolve ": f"server {nodes[1]} ",
        "listen 8080;": f"listen 127.0.0.1:{port};",
        "access_log /dev/stdout ": f"access_log {folder}/access.log ",
    }
    for here, there in places.items():
        # each node is in two upstreams: for bots, and for viewers
        assert text.count(here) == (2 if here.startswith("server") else 1), here
        text = text.replace(here, there)
    return text


@dataclass
class Answer:
    """An HTTP response; the body may still be arriving if `raw` has not been read."""

    status: int
    headers: Mapping[str, str]
    raw: http.client.HTTPResponse

    def json(self) -> Any:
        """Returns the decoded body."""
        return json.loads(self.raw.read())


class Proxy:
    """A running nginx in front of two nodes. Its folder must be writable by nginx."""

    def __init__(self, nginx: str, nodes: Sequence[Web], folder: Path) -> None:
        self.port = free_port()
        self.access_log = folder / "access.log"
        (folder / "nginx.conf").write_text(rendered([node.address for node in nodes], self.port, folder))
        command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr", "-g", "daemon off;"]
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            away = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=keep"]
            command = ["/usr/bin/setpriv", *away, *command]
        self.child = Child(Program(name="nginx", command=command, log=folder / "nginx.log"))

    def wait(self) -> None:
        """Returns when nginx answers. Raises EmbeddedError with nginx's output if it does not."""
        self.child.wait_until(self._answers, LIMIT_S)

    def ask(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, source: str = "127.0.0.1"
    ) -> Answer:
        """Sends one request over a connection of its own, from the address `source`; a `body` makes it a POST."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S, source_address=(source, 0))
        given = {"Content-Type": "application/json", **(headers or {})}
        connection.request("GET" if body is None else "POST", path, body, given)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer)

    def register(self, bot_id: str, game: str = "numberwang", **more: Any) -> Answer:
        """Registers a bot; `more` is passed to `ask`."""
        return self.ask(f"/bots/{game}", json.dumps({"bot_id": bot_id}).encode(), **more)

    def connect(self, path: str = "/", source: str = "127.0.0.1", headers: Sequence[str] = ()) -> websocket.WebSocket:
        """Returns an open WebSocket from which nothing has been read."""
        return connect(self.port, path, source, headers)

    def logged(self) -> list[dict[str, Any]]:
        """Returns the access log's events so far. A request is logged when it has ended, so after its answer."""
        return [json.loads(line) for line in self.access_log.read_text().splitlines()]

    def _answers(self) -> bool:
        try:
            return self.ask("/healthz").status == 200
        except OSError:
            return False


def connect(port: int, path: str = "/", source: str = "127.0.0.1", headers: Sequence[str] = ()) -> websocket.WebSocket:
    """An open WebSocket to a port of this machine, from the address `source`."""
    sock = socket.create_connection(("127.0.0.1", port), LIMIT_S, source_address=(source, 0))
    return websocket.create_connection(
        f"ws://127.0.0.1:{port}{path}", timeout=LIMIT_S, socket=sock, header=list(headers)
    )
