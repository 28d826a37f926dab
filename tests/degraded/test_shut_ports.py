"""A node that cannot serve yet refuses connections: bots, and what stands in front of the nodes, try another one."""

from __future__ import annotations

import os
import signal
import socket

from cluster import Web, wait_for
from frail import Frail

from bench.machine import family

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def answer(web: Web) -> str:
    """What a client gets that connects now: `refused`, `nothing`, or the status."""
    try:
        with socket.create_connection(("127.0.0.1", web.settings.port), 5.0) as connection:
            connection.settimeout(0.5)
            connection.sendall(REQUEST)
            return connection.recv(100).split(b" ")[1].decode()
    except ConnectionRefusedError:
        return "refused"
    except (TimeoutError, OSError, IndexError):
        return "nothing"


def test_a_node_whose_worker_died_refuses_until_the_next_one_serves(frail: Frail, web: Web) -> None:
    """Redis hangs, so that none can serve for a while; the port is its own all the time. A second worker dies, too."""
    assert answer(web) == "200"
    with frail.paused("valkey"):
        os.kill(family(web.child.pid)[1], signal.SIGKILL)
        wait_for(lambda: answer(web) == "refused", "a refusal")
        wait_for(lambda: "node.waits_for_redis" in web.log.read_text().rpartition("Booting worker")[2], "a worker")
        assert answer(web) == "refused"
        # the port is shut already when this one dies
        os.kill(family(web.child.pid)[1], signal.SIGKILL)
        wait_for(lambda: web.log.read_text().count("Booting worker") == 3, "a worker")
    wait_for(lambda: answer(web) == "200", "the next worker")
    assert web.child.alive
