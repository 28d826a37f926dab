"""Redis as an operator needs to know it: its version, its settings, what its user may do, its clock. Read-only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from battlebot.redisio.connection import redis_errors, time_s

LISTEN_S = 5.0
CLOCKS_APART_S = 1.0  # what docs/operations.md asks of the machines

# what a user needs -> a command that takes it, and changes nothing: of keys that are not there, both to read and write
COMMAND = "the command "
RIGHTS = {
    "the keys ~bb:*": ("LPOP", "bb:doctor"),
    "the keys ~LIMITS:*": ("LPOP", "LIMITS:doctor"),
    f"{COMMAND}EVAL": ("EVAL", "return 1", "0"),
    f"{COMMAND}EVALSHA": ("EVALSHA", "0" * 40, "0"),
    f"{COMMAND}BRPOP": ("BRPOP", "bb:doctor", "0.01"),
    f"{COMMAND}PUBLISH": ("PUBLISH", "bb:doctor", ""),
    f"{COMMAND}UNWATCH": ("UNWATCH",),
}
# a worker listens by a pattern, which Redis allows only to users of all channels, or of that very pattern
CHANNELS = "the channels &*"


@dataclass(frozen=True, kw_only=True)
class RedisServer:
    """The server's version and settings. `fsync` is None if it may not be read; sizes in bytes, 0: no limit."""

    name: str
    version: str
    clustered: bool
    append_only: bool
    writes: bool
    fsync: str | None
    policy: str
    memory: int
    most_memory: int


class RedisInspection:
    """Every method raises Unavailable when Redis does not answer."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def server(self) -> RedisServer:
        """The server's name, version and settings."""
        with redis_errors():
            info: Any = self._client.info()
        is_valkey = "valkey_version" in info
        return RedisServer(
            name="Valkey" if is_valkey else "Redis",
            version=str(info["valkey_version" if is_valkey else "redis_version"]),
            clustered=bool(info.get("cluster_enabled")),
            append_only=bool(info.get("aof_enabled")),
            writes=info.get("aof_last_write_status", "ok") == "ok",
            fsync=self._configured("appendfsync"),
            policy=str(info.get("maxmemory_policy", "unknown")),
            memory=int(info.get("used_memory", 0)),
            most_memory=int(info.get("maxmemory", 0)),
        )

    def lacking(self) -> list[str]:
        """Returns which of `RIGHTS` and `CHANNELS` the user of REDIS_URL has not."""
        tries: dict[str, Callable[[], object]] = {
            right: partial(self._client.execute_command, *command) for right, command in RIGHTS.items()
        }
        found = []
        for right, attempt in {**tries, CHANNELS: self._listen}.items():
            with redis_errors():
                try:
                    attempt()
                except redis.exceptions.NoPermissionError as error:
                    # a command may also be refused for its key or channel, which is a right of its own
                    if not right.startswith(COMMAND) or "to run the" in str(error):
                        found.append(right)
                except redis.ResponseError:
                    pass  # no such script, or a full disk: that is for other findings
        return found

    def _listen(self) -> None:
        with self._client.pubsub() as listener:
            listener.psubscribe("bb:doctor")
            listener.get_message(timeout=LISTEN_S)

    def _configured(self, name: str) -> str | None:
        with redis_errors():
            try:
                found: Any = self._client.config_get(name)
            except redis.ResponseError:
                # a provider's Redis may refuse CONFIG
                return None
        value = found.get(name)
        return None if value is None else str(value.decode() if isinstance(value, bytes) else value)

    def clock(self) -> tuple[float, float]:
        """Returns how many seconds Redis's clock is ahead of ours, and by how many that may be off."""
        before_s = time.time()
        there_s = time_s(self._client)
        after_s = time.time()
        return there_s - (before_s + after_s) / 2, (after_s - before_s) / 2
