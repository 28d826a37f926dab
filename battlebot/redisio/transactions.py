"""A connection to Redis on which several commands travel together, as one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import hiredis
import redis

from battlebot.errors import without_traceback

# idle for longer, a connection is checked before it is used: Redis may have been restarted, which takes longer
IDLE_S = 0.05

Command = tuple[Any, ...]


class TransactionConnection:
    """Sends one transaction at a time. Connects when first needed, and again after the connection broke.

    A transaction, because Redis then writes its log to disk once for all commands; it reads a long pipeline in parts,
    and would wait for the disk after each. Each command still has its own answer or error.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._connection: redis.Connection | None = None
        self._stands = False
        self._used_s = 0.0

    def answers(self, commands: Sequence[Command]) -> list[Any]:
        """Returns the answer to each command: an exception if Redis refused it or it is unknown whether it was done.

        Never raises an Exception; a BaseException thrown into the waiting greenlet passes through.
        """
        try:
            answers = self._exchange(commands)
            self._stands = True
            return answers
        except BaseException as error:
            self._stands = False
            if self._connection is not None:
                # the answer may still come, and must not be taken for the answer to another command
                self._connection.disconnect()
            if not isinstance(error, Exception):
                raise
            return [without_traceback(error)] * len(commands)

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        connection = self._connected()
        alone = len(commands) == 1
        sent = commands if alone else [("MULTI",), *commands, ("EXEC",)]
        packed = b"".join(map(hiredis.pack_command, sent))
        connection.send_packed_command([packed], check_health=False)
        answers = [_read(connection) for _ in sent]
        if alone:
            return answers
        refused = [answer for answer in answers[:-1] if isinstance(answer, Exception)]
        done = answers[-1]
        if isinstance(done, list) and len(done) == len(commands):
            return done
        return [refused[0] if refused else done] * len(commands)

    def _connected(self) -> redis.Connection:
        if self._connection is None:
            self._connection = self._client.connection_pool.get_connection()
        now_s = time.monotonic()
        # checking a connection that is down would reconnect it: if Redis hangs, that would wait twice
        if self._stands and now_s - self._used_s > IDLE_S and _is_stale(self._connection):
            self._connection.disconnect()  # it connects again by itself
        self._used_s = now_s
        return self._connection


def _read(connection: redis.Connection) -> Any:
    try:
        return connection.read_response()
    except redis.ResponseError as error:
        return without_traceback(error)


def _is_stale(connection: redis.Connection) -> bool:
    """Returns whether Redis has closed the connection meanwhile."""
    try:
        return bool(connection.can_read())
    except (redis.RedisError, OSError):
        return True
