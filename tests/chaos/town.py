"""Seven real processes under embedded mode's supervisor: two stores, two web nodes, two workers, beat; or two more."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cluster import free_port, wait_for

from battlebot.config import Settings, load_settings
from battlebot.embedded.commands import BOTS, beat_command, environment, tcp_command, web_command, worker_command
from battlebot.embedded.process import Child, Program
from battlebot.embedded.stores import Stores
from battlebot.embedded.supervisor import Supervisor
from bench.machine import family
from chaos.balancer import Balancer, balancing
from chaos.faults import OUTLYING, PARTS, WEBS, WORKERS, Fault, Kind

REQUEST_S = 10.0
BACK_S = 60.0  # for a part to come back


@dataclass
class Town:
    """Running parts. `ports` are those of the web nodes; `faults` counts faults, `hits` those by kind and part."""

    settings: Settings
    supervisor: Supervisor
    ports: dict[str, int]
    balancer: Balancer
    faults: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    _pauses: list[threading.Thread] = field(default_factory=list)

    def befall(self, fault: Fault) -> None:
        """Carries out a fault `after_s` seconds from now. Returns at once; after `ROLL`, when each part is back."""
        time.sleep(fault.after_s)
        self.faults += 1
        if fault.kind is Kind.CUT:
            self.hits[fault.kind] += 1
            self.balancer.cut()
        for part in fault.parts:
            child = self._running(part)
            if child is None:
                continue
            self.hits[f"{fault.kind} {part}"] += 1
            match fault.kind:
                case Kind.KILL:
                    _signal(child.pid, signal.SIGKILL)
                case Kind.KILL_CHILD:
                    for pid in family(child.pid)[1:2]:
                        _signal(pid, signal.SIGKILL)
                case Kind.PAUSE | Kind.LONG_PAUSE:
                    self._pause(child, fault.for_s)
                case Kind.STOP:
                    _signal(child.pid, signal.SIGTERM)
                case Kind.ROLL:
                    self.roll(part)

    @property
    def balancer_url(self) -> str:
        """The address for bots to which any node will do."""
        return f"ws://127.0.0.1:{self.balancer.port}/"

    def roll(self, part: str) -> float:
        """Restarts a part by SIGTERM; returns, once its successor runs, how many seconds it took to exit."""
        child, began_s = self.supervisor.child(part), time.monotonic()
        _signal(child.pid, signal.SIGTERM)
        wait_for(lambda: not child.alive, f"{part} to be gone", BACK_S)
        gone_s = time.monotonic()
        wait_for(lambda: self._serves(part), f"{part} to be back", BACK_S)
        return gone_s - began_s

    def _serves(self, part: str) -> bool:
        if part in WEBS:
            return self.request("/healthz", part=part, limit_s=2.0)[0] == 200
        return self.supervisor.child(part).alive

    def calm(self) -> None:
        """Returns when all pauses are over and every web node is ready."""
        for thread in self._pauses:
            thread.join()
        for part in WEBS:
            wait_for(lambda part=part: self.request("/readyz", part=part)[0] == 200, f"{part} to be ready", BACK_S)

    def request(
        self, path: str, body: Any = None, token: str = "", part: str = WEBS[0], limit_s: float = REQUEST_S
    ) -> tuple[int, Any]:
        """Returns status and decoded body of a REST request; 0 if nobody answers. A `body` makes it a POST."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[part]}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=limit_s) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, None
        except OSError:
            return 0, None

    def log_lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (part, event) for what our own processes logged; lines that are not JSON come as `{"event": line}`."""
        for path in sorted((self.settings.data / "logs").glob("*.log*")):
            part = path.name.partition(".")[0]
            if part in (*PARTS, *OUTLYING) and part not in ("valkey", "mongod"):
                for line in path.read_text(errors="replace").splitlines():
                    yield part, _event(line)

    def _running(self, part: str) -> Child | None:
        """Returns the part's process; None if the supervisor, which has its own pace, has not restarted it in time."""
        until_s = time.monotonic() + 10.0
        while time.monotonic() < until_s:
            child = self.supervisor.child(part)
            if child.alive:
                return child
            time.sleep(0.1)
        return None

    def _pause(self, child: Child, for_s: float) -> None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGSTOP)

        def resume() -> None:
            time.sleep(for_s)
            if child.alive:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGCONT)

        self._pauses = [thread for thread in self._pauses if thread.is_alive()]
        self._pauses.append(threading.Thread(target=resume))
        self._pauses[-1].start()


@contextmanager
def town(data: Path, outlying: bool = False, **changes: Any) -> Iterator[Town]:
    """Yields all parts running and ready, also the `OUTLYING` ones. Logs are in `data`/logs. `changes` are settings."""
    ports = {part: free_port() for part in WEBS}
    settings = replace(load_settings({}, None), data=data, log_format="json", worker_concurrency=1, **changes)
    stores, supervisor = Stores(settings), Supervisor()
    try:
        for child in stores.children:
            supervisor.adopt(child)
        parts = [*_parts(stores.settings, ports), *(_outlying(stores.settings) if outlying else ())]
        for name, command, own in parts:
            log = stores.settings.data / "logs" / f"{name}.log"
            supervisor.start(Program(name=name, command=command, environment=environment(own), log=log))
        supervisor.watch()
        with balancing([*ports.values()]) as balancer:
            made = Town(stores.settings, supervisor, ports, balancer)
            made.calm()
            yield made
    finally:
        supervisor.stop()
        stores.stop()


def _parts(settings: Settings, ports: dict[str, int]) -> Iterator[tuple[str, list[str], Settings]]:
    for name in WORKERS:
        yield name, worker_command(settings, name=name), settings
    for name in WEBS:
        yield name, web_command(), replace(settings, port=ports[name])
    yield "beat", beat_command(settings.data / "celerybeat-schedule"), settings


def _outlying(settings: Settings) -> Iterator[tuple[str, list[str], Settings]]:
    yield "bots", worker_command(settings, queue=BOTS, name="bots"), settings
    yield "tcp", tcp_command(), settings


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        return {"event": line}
    return event if isinstance(event, dict) else {"event": line}
