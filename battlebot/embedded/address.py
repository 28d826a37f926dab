"""The web node's host and port: how to write them, and whether they are free."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping

from battlebot.errors import EmbeddedError

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - looked for, not listened on

WEB_NODE, TCP_DOOR = "The web node", "The TCP door"


def bind_address(host: str, port: int) -> str:
    """Return `host:port`, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def server_url(host: str, port: int) -> str:
    """The URL at which this machine reaches the server, without a trailing slash."""
    return "http://" + bind_address(reachable_host(host), port)


def reachable_host(host: str) -> str:
    """The host to which this machine connects when a server listens on `host`."""
    return _ANY.get(host, host)


def check_apart(port: int, others: Mapping[str, int], by: str) -> None:
    """Raise EmbeddedError if another part of the server is to listen on this port; `others`: what has which.

    `by` tells the operator how to choose another port.
    """
    for what, used in others.items():
        if port == used:
            raise EmbeddedError(f"{what} is to listen on {port}. Choose another port by {by}.")


def check_port(host: str, port: int, by: str = "BATTLEBOT_PORT or --port") -> None:
    """Raise EmbeddedError, with a sentence for the operator, if no server can listen on `host`:`port`.

    `by` tells the operator how to choose another port.
    """
    # a name may have addresses of both families; gunicorn and gevent listen on the IPv4 one
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, family, socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:  # the latter of a name that no host can have, such as a..b
        raise EmbeddedError(f"The host {host!r} is not known. Choose another by BATTLEBOT_HOST or --host.") from error
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            # bind alone may succeed although another socket listens on the port
            probe.listen(1)
            _check_reachable(probe, bind_address(host, port))
    except OSError as error:
        where = bind_address(host, port)
        if error.errno == errno.EADDRINUSE:
            raise EmbeddedError(f"Something listens on {where} already. Choose another port by {by}.") from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise EmbeddedError(
            f"No server can listen on {where}: {reason}."
            f" Choose another host by BATTLEBOT_HOST or --host, or another port by {by}."
        ) from error


def _check_reachable(listener: socket.socket, where: str) -> None:
    """Raise EmbeddedError if there is no way even from this machine: one may listen without any network at all."""
    with socket.socket(listener.family, listener.type) as caller:
        caller.setblocking(False)  # it is taken at once, or there is no way; whatever else may be is not judged here
        if caller.connect_ex(listener.getsockname()) == errno.ENETUNREACH:
            raise EmbeddedError(
                f"What listens on {where} cannot be reached: {os.strerror(errno.ENETUNREACH)}."
                " Is the loopback interface up (ip link set lo up)?"
            )
