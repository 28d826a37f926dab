"""The web node's host and port: how they are written, and whether they can be had."""

from __future__ import annotations

import errno
import os
import socket

from battlebot.errors import EmbeddedError

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - looked for, not listened on


def bind_address(host: str, port: int) -> str:
    """`host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def server_url(host: str, port: int) -> str:
    """The address to reach the server at from this machine, without a closing slash."""
    return "http://" + bind_address(reachable_host(host), port)


def reachable_host(host: str) -> str:
    """The host to connect to from this machine, where a server listens on `host`."""
    return _ANY.get(host, host)


def check_port(host: str, port: int, by: str = "BATTLEBOT_PORT or --port") -> None:
    """Raise EmbeddedError, in a sentence, where no server can listen at `host`:`port`.

    `by` says how to choose another port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise EmbeddedError(f"The host {host!r} is not known. Choose another by BATTLEBOT_HOST or --host.") from error
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            # Binding alone may pass beside another's listening socket
            probe.listen(1)
    except OSError as error:
        where = bind_address(host, port)
        if error.errno == errno.EADDRINUSE:
            raise EmbeddedError(f"Something listens on {where} already. Choose another port by {by}.") from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise EmbeddedError(
            f"No server can listen on {where}: {reason}. Choose another by --host and --port."
        ) from error
