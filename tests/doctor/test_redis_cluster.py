"""A Redis Cluster at REDIS_URL, which docs/operations.md excludes, is named by the doctor."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from battlebot.doctor.finding import State
from battlebot.doctor.stores import redis_server
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.process import Child
from battlebot.embedded.valkey import valkey_program, valkey_url, wait_for_valkey
from battlebot.redisio.connection import connect
from battlebot.redisio.inspection import RedisInspection


def test_a_redis_cluster_is_found(tmp_path: Path) -> None:
    """Nodes start on it, but no task ever comes to a worker; without slots it refuses what is asked next."""
    folder = DataFolder(tmp_path)
    program = valkey_program(folder)
    child = Child(replace(program, command=[*program.command, "--cluster-enabled", "yes"]))
    try:
        wait_for_valkey(child, folder)
        with closing(connect(valkey_url(folder.sockets))) as client:
            first = next(iter(redis_server(RedisInspection(client))))
    finally:
        child.stop()
        folder.close()
    assert (first.part, first.state) == ("redis", State.WRONG)
    assert "is a Redis Cluster (cluster-enabled), which is not supported." in first.sentence
