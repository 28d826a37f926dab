"""A node that is stopped while many come: whoever was let in is answered, and nothing is an error."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

from cluster import LIMIT_S, Cluster, Web, wait_for

CLIENTS = 40
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"


class Client:
    """Asks as often as it can; `answers` is how often it was answered."""

    answers = 0

    def ask_until_it_is_gone(self, node: Web) -> None:
        """Asks until the node is gone."""
        while True:
            try:
                with socket.create_connection(("127.0.0.1", node.settings.port), LIMIT_S) as raw:
                    raw.sendall(REQUEST)
                    self.answers += raw.recv(100).startswith(b"HTTP/1.1 200")
            except ConnectionRefusedError:
                return
            except ConnectionError:
                continue  # it had not been let in yet


def test_a_stop_is_no_error_for_those_who_have_just_come(parts: Cluster) -> None:
    """Its door is closed between their coming and their request."""
    node = parts.web(max_http_per_address=1000)
    clients = [Client() for _ in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as many:
        asking = [many.submit(client.ask_until_it_is_gone, node) for client in clients]
        wait_for(lambda: all(client.answers for client in clients), "an answer to each")
        node.child.stop()
        for one in asking:
            one.result(LIMIT_S)
    lines = [json.loads(line) for line in node.log.read_text().splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines if line["level"] in ("error", "critical")] == []
