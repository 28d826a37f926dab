"""A TCP node as a process of its own, without a server around it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cluster import free_port, wait_for

from battlebot.config import Settings
from battlebot.embedded.commands import environment, tcp_command
from battlebot.embedded.process import Child, Program


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_node_that_waits_for_redis_ends_when_it_is_told_to(signum: signal.Signals, tmp_path: Path) -> None:
    """It would wait for ever for one that is not there."""
    settings = Settings(
        redis_url=f"redis://127.0.0.1:{free_port()}/0",
        mongodb_uri=f"mongodb://127.0.0.1:{free_port()}/?replicaSet=away",
        secret_key="a-key-for-tests-only",
        tcp_port=free_port(),
    )
    log = tmp_path / "tcp.log"
    child = Child(Program(name="tcp", command=tcp_command(), environment=environment(settings), log=log))
    try:
        wait_for(lambda: "node.waits_for_redis" in log.read_text(), "the wait")
        os.kill(child.pid, signum)
        wait_for(lambda: not child.alive, "its end")
        assert child.status() == "exit status 0"
        assert "Traceback" not in log.read_text()
    finally:
        child.kill()
