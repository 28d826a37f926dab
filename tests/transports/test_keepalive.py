"""How the system is asked to look for peers whose machines are gone."""

from __future__ import annotations

import socket
from contextlib import ExitStack

from battlebot.transports.keepalive import SPREAD_S, keep_alive


def test_connections_opened_together_are_not_probed_together() -> None:
    """Of a hundred, no moment gets more than three times its share; all have a limit."""
    idle_s = []
    with ExitStack() as stack:
        for _ in range(100):
            sock = stack.enter_context(socket.socket())
            keep_alive(sock)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 4
            idle_s.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE))
    assert max(idle_s.count(one) for one in idle_s) <= 3 * 100 // SPREAD_S
