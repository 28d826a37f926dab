"""A connection to Redis on which several commands travel as one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import hiredis
import redis

# after which a connection is looked at before it is used: Redis may have been restarted, which takes longer
IDLE_S = 0.05

Command = tuple[Any, ...]


class Line:
    """One transaction at a time. It connects when it is needed, and anew where it has broken.

    One transaction, because Redis writes its log to the disk once for all of it: of a long pipeline it would take a
    part at a time, and make the disk wait for each. Each command's answer, or error, is its own all the same.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._connection: redis.Connection | None = None
        self._stands = False
        self._used_s = 0.0

    def answers(self, commands: Sequence[Command]) -> list[Any]:
        """The answer to each command; an exception where Redis refused it, or where nobody knows whether it was done.

        Never raises, but for what is thrown into the greenlet that waits.
        """
        try:
            answers = self._exchange(commands)
            self._stands = True
            return answers
        except BaseException as error:
            self._stands = False
            if self._connection is not None:
                # what was asked may be answered yet: nobody must take that for the answer to something else
                self._connection.disconnect()
            if not isinstance(error, Exception):
                raise
            return [error] * len(commands)

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
        # to look at one that does not stand would be to connect: where Redis hangs, one would wait twice
        if self._stands and now_s - self._used_s > IDLE_S and _is_stale(self._connection):
            self._connection.disconnect()  # it connects again by itself
        self._used_s = now_s
        return self._connection


def _read(connection: redis.Connection) -> Any:
    try:
        return connection.read_response()
    except redis.ResponseError as error:
        return error


def _is_stale(connection: redis.Connection) -> bool:
    """Whether Redis has closed it meanwhile."""
    try:
        return bool(connection.can_read())
    except (redis.RedisError, OSError):
        return True
