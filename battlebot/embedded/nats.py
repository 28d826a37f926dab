"""The private nats-server, started with the server: a bot over NATS must listen before it can be registered."""

from __future__ import annotations

from dataclasses import replace

import structlog

from battlebot.config import Settings, own_nats_url
from battlebot.embedded.address import TCP_DOOR, WEB_NODE, check_apart, check_port
from battlebot.embedded.find import find_nats
from battlebot.embedded.process import Program
from battlebot.errors import EmbeddedError

HOST = "127.0.0.1"
LEAST_PAYLOAD = 131_072  # bytes of a message: the longest question has less
PORT_BY = "BATTLEBOT_NATS_PORT; 0: no embedded nats-server"

log = structlog.get_logger()


def with_nats(settings: Settings) -> Settings:
    """Settings with the address of a NATS: the operator's, else the embedded one if it can be started, else none.

    Raises EmbeddedError if the operator has chosen a port and no nats-server can run there. Call it when the port of
    the TCP door is known.
    """
    if settings.nats_url or not settings.nats_port:
        return settings
    try:
        check_apart(settings.nats_port, {WEB_NODE: settings.port, TCP_DOOR: settings.tcp_port}, PORT_BY)
        check_port(HOST, settings.nats_port, PORT_BY)
        find_nats()
    except EmbeddedError as error:
        if settings.nats_port != Settings.nats_port:
            raise
        log.warning("nats.left_out", reason=str(error))
        return replace(settings, nats_port=0)
    return replace(settings, nats_url=own_nats_url(settings))


def has_own_nats(settings: Settings) -> bool:
    """Whether the settings, as returned by `with_nats`, name the embedded nats-server."""
    return bool(settings.nats_port) and settings.nats_url == own_nats_url(settings)


def nats_program(settings: Settings) -> Program:
    """How to start the embedded nats-server, which is optional. Its lines, which are no events, go to a file.

    Raises EmbeddedError if it is not installed.
    """
    program = find_nats()
    settings.data.mkdir(parents=True, exist_ok=True)
    rules = settings.data / "nats.conf"
    # enough for questions and answers, with room to spare; larger messages could flood a connection
    rules.write_text(f"max_payload: {max(LEAST_PAYLOAD, 2 * settings.bot_answer_bytes)}\n")
    return Program(
        name="nats",
        command=[str(program), "--config", str(rules), "--addr", HOST, "--port", str(settings.nats_port)],
        log=settings.data / "logs" / "nats.log",
        optional=True,
    )
