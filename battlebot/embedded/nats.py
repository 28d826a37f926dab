"""The private nats-server: it is started when a bot first needs it, and then with every later start of the server."""

from __future__ import annotations

import threading
from dataclasses import replace

import structlog

from battlebot.config import Settings, nats_wanted, own_nats_url
from battlebot.embedded.address import check_port
from battlebot.embedded.find import find_nats
from battlebot.embedded.process import Program
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError

LOOK_S = 0.2
HOST = "127.0.0.1"
PORT_BY = "BATTLEBOT_NATS_PORT; 0: no embedded nats-server"

log = structlog.get_logger(__name__)


def with_nats(settings: Settings) -> Settings:
    """Settings that name a NATS: the operator's, else the embedded one, if there can be one; else none."""
    if settings.nats_url or not settings.nats_port:
        return settings
    try:
        check_port(HOST, settings.nats_port, PORT_BY)
        find_nats()
    except EmbeddedError as error:
        if settings.nats_port != Settings.nats_port:
            raise
        log.warning("no-nats", reason=str(error))
        return replace(settings, nats_port=0)
    return replace(settings, nats_url=own_nats_url(settings))


def start_when_wanted(supervisor: Supervisor, settings: Settings, log_in_file: bool) -> None:
    """From a thread that lives as long as the supervision, since its children end with it; nothing without our own."""
    if settings.nats_url == own_nats_url(settings):
        program = _program(settings, log_in_file)
        threading.Thread(target=_watch, args=(supervisor, settings, program), name="nats", daemon=True).start()


def _watch(supervisor: Supervisor, settings: Settings, program: Program) -> None:
    while not nats_wanted(settings).exists():
        if _ended(supervisor, LOOK_S):
            return
    told = False
    while not _started(supervisor, settings, program):
        if not told:
            # another server on this machine has its own there: dying of that again and again would end all of ours
            log.error("nats.not_started", port=settings.nats_port, reason="something listens there already")
        told = True
        if _ended(supervisor, 1.0):
            return
    while not _ended(supervisor, 60.0):
        pass


def _started(supervisor: Supervisor, settings: Settings, program: Program) -> bool:
    try:
        check_port(HOST, settings.nats_port, PORT_BY)
        supervisor.start(program)
    except EmbeddedError:
        return False
    return True


def _ended(supervisor: Supervisor, limit_s: float) -> bool:
    try:
        return supervisor.wait(limit_s)
    except EmbeddedError:
        return True


def _program(settings: Settings, log_in_file: bool) -> Program:
    return Program(
        name="nats",
        command=[str(find_nats()), "--addr", HOST, "--port", str(settings.nats_port)],
        log=settings.data / "logs" / "nats.log" if log_in_file else None,
    )
