"""A whole server on this machine: the stores, a web node, a worker and beat under one supervisor."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import structlog

from battlebot.config import Settings, is_private
from battlebot.embedded.address import WEB_NODE, check_apart, check_port, reachable_host, server_url
from battlebot.embedded.commands import (
    BOTS,
    asking_parts,
    beat_command,
    environment,
    tcp_command,
    web_command,
    worker_command,
)
from battlebot.embedded.interrupts import stopped_by_signals
from battlebot.embedded.nats import has_own_nats, nats_program, with_nats
from battlebot.embedded.process import Child, Program, without_room
from battlebot.embedded.semaphores import check_semaphores
from battlebot.embedded.stores import Stores
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError

log = structlog.get_logger()

TCP_PORT_BY = "BATTLEBOT_TCP_PORT; 0: no TCP door"

_WAIT_S = 1.0

Prepare = Callable[[Settings], None]


@dataclass(frozen=True)
class Server:
    """A running server: `url` without a trailing slash; `settings` with the stores' addresses and the key filled in."""

    url: str
    settings: Settings
    supervisor: Supervisor

    def child(self, name: str) -> Child:
        """The current process of a part: valkey, mongod, worker, web, beat and so on. Raises KeyError."""
        return self.supervisor.child(name)

    def wait(self) -> None:
        """Wait for ever. Raises KeyboardInterrupt on a signal, EmbeddedError if a part keeps dying."""
        # A signal that comes just before a wait begins is heard at its end
        while not self.supervisor.wait(_WAIT_S):
            pass


@contextmanager
def running(
    settings: Settings,
    *,
    wsgi_module: str = "wsgi",
    ready_s: float = 180.0,  # a slow machine compiles all modules at the first start
    logs_in_files: bool = False,
    prepare: Prepare | None = None,
) -> Iterator[Server]:
    """Run a server within the context; parts that die are restarted. Stores with a given address are not started.

    `prepare` is called when a mongod of ours runs, with settings that name it, before the parts that use it start.
    If the default port of the TCP door is in use, the server has no such door: its `settings.tcp_port` is 0.
    `logs_in_files`: the parts write to `<data>/logs/<part>.log`, else to our stderr. Raises EmbeddedError if the port
    is in use, the folder is not writable, no semaphores can be made, or a part does not start or is not ready within
    `ready_s` seconds.
    """
    check_port(settings.host, settings.port)
    check_semaphores()
    settings = with_nats(_with_free_tcp_port(settings))
    with_bots = with_bots_here(settings)
    stores = Stores(with_bots)
    if with_bots is not settings:
        log.info("bots.allowed_on_this_machine", instead="BATTLEBOT_BOT_LOOPBACK, where others reach the server")
    supervisor = Supervisor()
    try:
        for child in stores.children:
            supervisor.adopt(child)
        if prepare is not None and not settings.mongodb_uri:
            prepare(stores.settings)
        if has_own_nats(stores.settings):
            supervisor.start(nats_program(stores.settings))
        for program in _parts(stores.settings, wsgi_module, logs_in_files):
            supervisor.start(program)
        supervisor.watch()
        server = Server(server_url(settings.host, settings.port), stores.settings, supervisor)
        _wait_until_ready(server, ready_s)
        yield server
    finally:
        try:
            supervisor.stop()
        finally:
            stores.stop()


def with_bots_here(settings: Settings) -> Settings:
    """The settings; unless the operator has said, bots on this machine are allowed to a server for it alone.

    That is one that others cannot reach, with both stores to itself.
    """
    alone = is_private(settings) and not (settings.redis_url or settings.mongodb_uri)
    if settings.bot_loopback is not None or not alone:
        return settings
    return replace(settings, bot_loopback=True)


def serve(settings: Settings, *, wsgi_module: str = "wsgi", prepare: Prepare | None = None) -> None:
    """Run a server until Ctrl-C, SIGTERM or SIGHUP. Raises EmbeddedError like `running`, or if a part keeps dying."""
    with stopped_by_signals(), running(settings, wsgi_module=wsgi_module, prepare=prepare) as server:
        # The URL of an operator's own NATS may contain a password
        nats = {"nats": server.settings.nats_url} if has_own_nats(server.settings) else {}
        log.info("server.ready", url=server.url, **nats)
        server.wait()


def _with_free_tcp_port(settings: Settings) -> Settings:
    """Drop the TCP door if its default port is in use. Raises EmbeddedError if another, chosen port is in use."""
    if settings.tcp_port:
        try:
            check_apart(settings.tcp_port, {WEB_NODE: settings.port}, TCP_PORT_BY)
            check_port(settings.host, settings.tcp_port, TCP_PORT_BY)
        except EmbeddedError as error:
            if settings.tcp_port != Settings.tcp_port:
                raise
            log.warning("tcp.left_out", reason=str(error))
            return replace(settings, tcp_port=0)
    return settings


def _parts(settings: Settings, wsgi_module: str, logs_in_files: bool) -> list[Program]:
    """The programs in order of start: the worker before the node that gives it work, beat last."""
    commands = {
        "worker": worker_command(settings, wsgi_module),
        **{name: worker_command(settings, wsgi_module, BOTS, name) for name in asking_parts(settings)},
        "web": web_command(wsgi_module),
        **({"tcp": tcp_command()} if settings.tcp_port else {}),
        "beat": beat_command(settings.data / "celerybeat-schedule", wsgi_module),
    }
    return [
        Program(
            name=name,
            command=command,
            environment=environment(settings),
            log=settings.data / "logs" / f"{name}.log" if logs_in_files else None,
            # gunicorn cuts its connections itself, at most three and a half seconds after close_timeout_s
            stop_s=settings.close_timeout_s + 6.0,
            waits_for_none=name in ("worker", "beat", *asking_parts(settings)),
        )
        for name, command in commands.items()
    ]


def _wait_until_ready(server: Server, limit_s: float) -> None:
    deadline_s = time.monotonic() + limit_s
    conditions = [("web", "The web node", _healthy)]
    if server.settings.tcp_port:
        conditions.append(("tcp", "The TCP door", _is_open))
    for part, what, holds in conditions:
        while not holds(server.settings):
            if time.monotonic() > deadline_s:
                why = server.child(part).why()
                raise EmbeddedError(f"{what} did not answer within {limit_s:g} seconds{why}")
            if starved := server.supervisor.waits_for_room():
                raise without_room(f"{starved.program.name} ended at its start ({starved.status()}){starved.why()}")
            server.supervisor.wait(0.05)


def _is_open(settings: Settings) -> bool:
    try:
        socket.create_connection((reachable_host(settings.host), settings.tcp_port), 2.0).close()
    except OSError:
        return False
    return True


def _healthy(settings: Settings) -> bool:
    # urllib would use a proxy from the environment
    connection = http.client.HTTPConnection(reachable_host(settings.host), settings.port, timeout=2.0)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
