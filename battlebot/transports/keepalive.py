"""Connections whose peers' machines are gone, found by the operating system, at no cost for the process."""

from __future__ import annotations

import socket

IDLE_S, SPREAD_S = 20, 20
AGAIN_S, UNANSWERED = 10, 4


def keep_alive(sock: socket.socket) -> None:
    """Lets the system ask the system of a silent peer after 20 to 40 s, and break the connection if four probes fail.

    The probes of thousands of connections that were opened together must not go out together: Linux drops what
    exceeds `net.core.netdev_max_backlog` (1,000) on a loopback or a container's bridge, as between a proxy and a node.
    A peer that hangs on a machine that lives is not found so; that takes a ping.
    """
    options = {
        "TCP_KEEPIDLE": IDLE_S + sock.fileno() % SPREAD_S,
        "TCP_KEEPINTVL": AGAIN_S,
        "TCP_KEEPCNT": UNANSWERED,
    }
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in options.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
