"""The private Valkey: how it is started, and when it is ready."""

from __future__ import annotations

import os
from pathlib import Path

import structlog

from battlebot.embedded.find import find_mimalloc, find_valkey
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.loading import runs
from battlebot.embedded.process import Child, Program

log = structlog.get_logger()

_READY_S = 30.0

# An acknowledged turn must survive a SIGKILL of Valkey, so its write(2) must come before its reply. With `everysec`
# that holds only while the disk is quick: during the background fsync Valkey postpones the write, by up to two
# seconds, and replies all the same. `no` never postpones, but leaves up to half a minute to the kernel when the power
# fails. `always` writes and fsyncs once a round of the event loop, before any reply of that round, and so once a
# pipeline: the group commit of the arena pays for it together. Measured on a virtual SSD, 1 kB values: pipelines of
# 50 commands 0.8 instead of 0.3 ms (50,000 instead of 100,000 commands a second), a single command 0.25 instead of
# 0.1 ms.
APPENDFSYNC = "always"


def valkey_socket(folder: DataFolder) -> Path:
    """Where the embedded Valkey of `folder` listens."""
    return folder.sockets / "valkey.sock"


def valkey_url(folder: DataFolder) -> str:
    """The address of the embedded Valkey, as redis-py and `REDIS_URL` have it."""
    return f"unix://{valkey_socket(folder)}?db=0"


def valkey_program(folder: DataFolder) -> Program:
    """How to start it: no TCP port, a socket of ours alone, everything in the append-only file."""
    options = {
        "port": "0",
        "unixsocket": str(valkey_socket(folder)),
        "unixsocketperm": "700",
        "dir": str(folder.path / "valkey"),
        "daemonize": "no",
        "save": "",
        "appendonly": "yes",
        "appendfsync": APPENDFSYNC,
        "aof-load-truncated": "yes",
        "maxmemory-policy": "noeviction",
        "loglevel": "notice",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    valkey = find_valkey()
    return Program(
        name="valkey",
        command=[str(valkey), *arguments],
        environment=_environment(valkey),
        log=folder.path / "logs" / "valkey.log",
        disk=folder.path,
    )


def _environment(valkey: Path) -> dict[str, str]:
    """Ours, with another memory allocator where one can be had.

    A wheel's Valkey is built without the one that Valkey brings along. With the C library's, what a turn costs it
    grows by half within a minute, as the memory that the turns fill falls into ever smaller pieces.
    """
    mimalloc, asked = find_mimalloc(), os.environ.get("LD_PRELOAD", "")
    # at a space or a colon a path would fall into two
    if mimalloc is None or not {" ", ":"}.isdisjoint(str(mimalloc)):
        return dict(os.environ)
    environment = {**os.environ, "LD_PRELOAD": f"{mimalloc}:{asked}".rstrip(":")}
    # it needs libatomic
    if not runs(valkey, environment):
        log.info("valkey.allocator_left_out", allocator=mimalloc.name, reason="Valkey does not run with it here")
        return dict(os.environ)
    return environment


def wait_for_valkey(child: Child, folder: DataFolder) -> None:
    """Return when it answers, its append-only file loaded. Raises EmbeddedError."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    once = Retry(NoBackoff(), 0)
    # Its own retries would sleep for seconds before we learn that the child has died
    with redis.Redis(unix_socket_path=str(valkey_socket(folder)), retry=once, socket_timeout=2.0) as client:

        def answers() -> bool:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

        child.wait_until(answers, _READY_S)
