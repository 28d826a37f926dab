"""A node where the system allows few open files: it takes fewer connections, so that some are left for its stores."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from cluster import LIMIT_S, Cluster, wait_for

from battlebot.embedded.openfiles import OWN, few_files

FEW = 150
ROOM = FEW - OWN
ASK = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, {FEW}))
from battlebot.embedded.openfiles import allowed_connections
print(allowed_connections(20_000), allowed_connections(20), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_limit_is_raised_and_the_nodes_own_files_are_left_out() -> None:
    """More than are asked for are never allowed."""
    told = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [str(ROOM), "20", str(FEW)]


def test_it_is_told_only_where_there_is_too_little_room() -> None:
    """And then how much there is. What the node itself needs is no reason."""
    assert few_files(20_000, 20_000) == ""
    assert few_files(20_000 - OWN, 20_000) == ""
    sentence = "leaves room for 3,996 of the 20,000 connections of BATTLEBOT_MAX_CONNECTIONS."
    assert few_files(3_996, 20_000) == f"The limit of open files (ulimit -Hn) {sentence}"


def test_a_worker_that_asks_bots_may_have_as_many_connections_as_the_system_allows(parts: Cluster) -> None:
    """A usual limit of 1024 is less than it may need: a battle asks 64 bots at once, and it runs many."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most - 1, most))
    try:
        worker = parts.bots()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
    wait_for(lambda: resource.prlimit(worker.pid, resource.RLIMIT_NOFILE) == (most, most), "the limit to be raised")


@pytest.mark.parametrize("door", ["web", "tcp"])
def test_who_comes_to_a_node_without_free_files_waits(
    door: str, parts: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node logs no error, and goes on."""
    limited(monkeypatch)
    node: Any = getattr(parts, door)(max_connections_per_address=1000)
    with ExitStack() as others:
        for _ in range(FEW + 50):
            others.enter_context(socket.create_connection(address_of(node), LIMIT_S))
        late = socket.create_connection(address_of(node), LIMIT_S)
    with late:
        late.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert late.recv(1000)
    events = [json.loads(line) for line in node.log.read_text().splitlines()]
    assert [event["reason"] for event in events if event["event"] == "node.few_files"] == [few_files(ROOM, 20_000)]
    assert [event for event in events if event["level"] in ("error", "critical")] == []


def address_of(node: Any) -> tuple[str, int]:
    """Where it listens."""
    return node.address if isinstance(node.address, tuple) else ("127.0.0.1", node.settings.port)


def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `Cluster` starts its nodes with few files."""
    for name in ("web_command", "tcp_command"):
        monkeypatch.setattr(f"cluster.{name}", with_few_files(name))


def with_few_files(name: str) -> Callable[..., list[str]]:
    """The command of that name, behind a shell that lowers the limit."""
    import cluster

    command = getattr(cluster, name)
    return lambda *given: ["/bin/sh", "-c", f'ulimit -n {FEW}; exec "$0" "$@"', *command(*given)]
