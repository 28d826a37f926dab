"""A whole server around a stand-in for wsgi.py, with every process real: starts, ends, kills, neighbours."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import cluster
import pytest
from celery import Celery
from processes import command, descendants, eventually, survivors

from battlebot.config import Settings
from battlebot.embedded.address import check_port, server_url
from battlebot.embedded.commands import environment, web_command, worker_command
from battlebot.embedded.process import Child, Program
from battlebot.embedded.server import TCP_PORT_BY, Server, running, with_bots_here
from battlebot.embedded.stores import embedded_stores
from battlebot.errors import EmbeddedError

Make = Callable[..., Settings]
Start = Callable[..., subprocess.Popen[bytes]]
Part = Callable[[str, list[str], Settings], Child]

# valkey, mongod, gunicorn and its worker, celery and its two pool children, celery with greenlets, beat
PROCESSES = 9


def fetch(url: str) -> str:
    """What the stand-in answers: the process id of the web worker."""
    with urllib.request.urlopen(url, timeout=20) as answer:
        return str(answer.read().decode())


def answers(url: str) -> bool:
    """Whether it answers now."""
    try:
        return bool(fetch(url))
    except OSError:
        return False


def logged(settings: Settings, name: str) -> str:
    """The events that a part has logged as JSON, one a line."""
    rows = (settings.data / "logs" / f"{name}.log").read_text().splitlines()
    return "\n".join(json.loads(row)["event"] for row in rows if row.startswith("{"))


def test_a_server_runs_heals_and_ends_without_a_trace(make_settings: Make) -> None:
    """Each part is killed once; all of them are there again; none is at the end. Two workers ask stateless bots."""
    others = set(descendants(os.getpid()))

    def ours() -> dict[int, str]:
        return {pid: mark for pid, mark in descendants(os.getpid()).items() if pid not in others}

    with running(make_settings(bots_workers=2), wsgi_module="standin", logs_in_files=True) as server:
        eventually(lambda: len(ours()) == PROCESSES + 1)
        parts = ("valkey", "mongod", "worker", "bots", "bots2", "web", "beat")
        first = {name: server.child(name).pid for name in parts}
        for pid in first.values():
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: all(server.child(name).pid != pid for name, pid in first.items()))
        eventually(lambda: answers(server.url) and len(ours()) == PROCESSES + 1)
        processes = ours()
        second = [server.child(name) for name in parts]
    assert survivors(processes) == []
    assert [child.program.name for child in second if child.status() == "SIGKILL"] == []


@pytest.fixture
def start_part() -> Iterator[Callable[[str, list[str], Settings], Child]]:
    """A function that starts one part alone, without a supervisor."""
    started = []

    def start(name: str, command_line: list[str], settings: Settings) -> Child:
        log = settings.data / "logs" / f"{name}.log"
        child = Child(Program(name=name, command=command_line, environment=environment(settings), log=log))
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()


def test_pool_children_die_with_their_worker(make_settings: Make, start_part: Part, tmp_path: Path) -> None:
    """Even one that is busy: it would go on with what was given to another long since."""
    with embedded_stores(make_settings()) as settings:
        worker = start_part("worker", worker_command(settings, "standin"), settings)
        broker = settings.redis_url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
        Celery(broker=broker).send_task("standin.hold", [str(tmp_path / "busy")])
        eventually((tmp_path / "busy").exists)
        children = descendants(worker.pid)
        assert len(children) == 2
        os.kill(worker.pid, signal.SIGKILL)
        eventually(lambda: survivors(children) == [])


def test_web_workers_die_with_their_arbiter(make_settings: Make, start_part: Part) -> None:
    """By the system's doing: gunicorn's own look, of which a stopped worker is not capable, comes a second later."""
    settings = make_settings(redis_url="redis://127.0.0.1:1")
    web = start_part("web", web_command("standin"), settings)
    eventually(lambda: answers(server_url(settings.host, settings.port)))
    workers = descendants(web.pid)
    (worker,) = workers
    os.kill(worker, signal.SIGSTOP)
    os.kill(web.pid, signal.SIGKILL)
    eventually(lambda: survivors(workers) == [])


def test_sigkill_of_the_supervisor_leaves_no_orphan(make_settings: Make, start_serving: Start) -> None:
    """Not one of the nine, checked by the process table; and the next start finds everything free."""
    settings = make_settings()
    process, _ = started(settings, start_serving)
    eventually(lambda: len(descendants(process.pid)) == PROCESSES)
    processes = descendants(process.pid)
    process.kill()
    process.wait()
    eventually(lambda: survivors(processes) == [])
    process, _ = started(settings, start_serving)
    eventually(lambda: len(descendants(process.pid)) == PROCESSES)
    ends_in_seconds(process, descendants(process.pid), signal.SIGTERM)
    assert (settings.data / "secret_key").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_everything_in_seconds(number: int, make_settings: Make, start_serving: Start) -> None:
    """As SIGTERM does, above. The data stay."""
    settings = make_settings()
    ends_in_seconds(*started(settings, start_serving), number)
    assert (settings.data / "secret_key").exists()


def started(settings: Settings, start_serving: Start) -> tuple[subprocess.Popen[bytes], dict[int, str]]:
    """A server that answers, and its processes."""
    process = start_serving(settings)
    eventually(lambda: answers(f"http://127.0.0.1:{settings.port}"))
    return process, descendants(process.pid)


def ends_in_seconds(process: subprocess.Popen[bytes], processes: dict[int, str], number: int) -> None:
    """By the signal; with exit status 0, for it was asked for; the sockets are gone."""
    process.send_signal(number)
    assert process.wait(20) == 0
    assert survivors(processes) == []


def test_a_second_signal_ends_everything_at_once(make_settings: Make, start_serving: Start) -> None:
    """For who cannot wait: here a web node that is stopped in its tracks."""
    process, processes = started(make_settings(), start_serving)
    web = next(pid for pid in processes if "gunicorn" in command(pid))
    os.kill(web, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    eventually(lambda: survivors(processes) == [])


@pytest.fixture(scope="module")
def server(make_module_settings: Make, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One with all its parts, started in a folder of files with the names of ours; for tests that only look at it."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("app", "battlebot", "celery", "games", "gevent", "gunicorn", "limits", "tasks", "wsgi"):
        (folder / f"{name}.py").write_text("raise SystemExit('This one is not meant.')")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with running(make_module_settings(tcp_port=cluster.free_port()), logs_in_files=True) as made:
            patch.undo()
            yield made


def test_two_servers_live_side_by_side(make_settings: Make, server: Server) -> None:
    """With another port and another data folder, nothing else is shared.

    The second goes without the TCP door of the usual port, where something listens: nobody chose that port, and it must
    not keep a server with a port of its own from starting.
    """
    with socket.socket() as taken:
        with suppress(OSError):  # another's already, as well
            taken.bind(("127.0.0.1", Settings.tcp_port))
            taken.listen()
        settings = make_settings(tcp_port=Settings.tcp_port)
        with running(settings, wsgi_module="standin", logs_in_files=True) as second:
            assert second.settings.tcp_port == 0
            assert fetch(second.url) != fetch(server.url)
            assert second.settings.redis_url != server.settings.redis_url


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, True),
        ({"bot_loopback": False}, False),
        ({"trusted_proxies": 1}, None),
        ({"trusted_proxies": 1, "bot_loopback": False}, False),
        ({"trusted_proxies": 1, "bot_loopback": True}, True),
        ({"host": "0.0.0.0"}, None),
        ({"redis_url": "redis://127.0.0.1:1"}, None),
        ({"mongodb_uri": "mongodb://127.0.0.1:1"}, None),
    ],
)
def test_bots_on_this_machine_are_for_a_server_for_it_alone(
    changes: dict[str, object], allowed: bool | None, make_settings: Make
) -> None:
    """Behind a proxy strangers could have it ask what else runs here. What the operator says holds, either way."""
    assert with_bots_here(make_settings(**changes)).bot_loopback is allowed


def test_a_port_in_use_is_one_clear_line(make_settings: Make) -> None:
    """Before anything is started or made."""
    settings = make_settings()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", settings.port))
        taken.listen()
        with pytest.raises(EmbeddedError, match=rf"^Something listens on 127.0.0.1:{settings.port} already\. .*--port"):
            running(settings, wsgi_module="standin").__enter__()
    assert not settings.data.exists()


def test_a_port_is_tried_at_the_address_of_a_name_where_the_server_will_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """`localhost` may be ::1 first, where nobody listens: gunicorn and gevent take its IPv4 address."""
    look_up = socket.getaddrinfo

    def as_elsewhere(host: str, port: int, family: int = 0, *rest: int, **more: int) -> list[Any]:
        known = "127.0.0.1" if family == socket.AF_INET else "::1"
        return look_up(known if host == "localhost" else host, port, family, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", as_elsewhere)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedError, match=rf"^Something listens on localhost:{port} already"):
            check_port("localhost", port)


def test_a_chosen_tcp_port_in_use_is_one_clear_line(make_settings: Make) -> None:
    """As that of the web node is."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            EmbeddedError, match=rf"^Something listens on 127.0.0.1:{port} already\. .*BATTLEBOT_TCP_PORT"
        ):
            running(make_settings(tcp_port=port), wsgi_module="standin").__enter__()


def test_a_host_that_is_not_this_machines_is_one_clear_line() -> None:
    """It also says which setting names the port: that of the TCP door is not --port."""
    host = "192.0.2.1"  # an address for documentation, nobody's (RFC 5737)
    with pytest.raises(EmbeddedError, match=r"Cannot assign requested address\. .* by BATTLEBOT_PORT or --port\."):
        check_port(host, 3000)
    with pytest.raises(EmbeddedError, match="another port by BATTLEBOT_TCP_PORT; 0: no TCP door"):
        check_port(host, 5233, TCP_PORT_BY)


def test_a_tcp_port_that_is_the_web_nodes_is_one_clear_line(make_settings: Make) -> None:
    """Before anything is started: each would keep the other from its port."""
    settings = make_settings()
    with pytest.raises(EmbeddedError, match=rf"^The web node is to listen on {settings.port}\. .*BATTLEBOT_TCP_PORT"):
        running(replace(settings, tcp_port=settings.port), wsgi_module="standin").__enter__()
    assert not settings.data.exists()


def test_a_web_node_that_cannot_start_is_one_clear_line(make_settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """And everything that did start is stopped."""
    monkeypatch.setenv("STANDIN_BREAKS", "1")
    settings = make_settings()
    with pytest.raises(EmbeddedError, match=r"The web node did not answer within 6 seconds: .*\(see .*/logs/web.log\)"):
        running(settings, wsgi_module="standin", logs_in_files=True, ready_s=6).__enter__()
    assert [pid for pid in descendants(os.getpid()) if str(settings.data) in command(pid)] == []


def test_the_parts_are_told_of_bots_here_and_log_json_of_ours(server: Server) -> None:
    """gunicorn's and Celery's own loggers go through our formatter."""
    for name, line in (("web", "Listening at"), ("worker", "ready")):
        eventually(lambda: line in logged(server.settings, name))  # noqa: B023
        variables = Path(f"/proc/{server.child(name).pid}/environ").read_bytes().split(b"\0")
        assert b"BATTLEBOT_BOT_LOOPBACK=1" in variables


def test_a_server_can_be_started_in_a_folder_of_python_files(server: Server) -> None:
    """Its owner's `app.py` is not taken for ours, nor any of them for a library's."""
    assert answers(f"{server.url}/healthz")
    for name, line in (("worker", "ready"), ("bots", "ready"), ("tcp", "tcp.open")):
        eventually(lambda: line in logged(server.settings, name))  # noqa: B023
    eventually(lambda: list(server.settings.data.glob("celerybeat-schedule*")))
