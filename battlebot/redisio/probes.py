"""Health probes that ask Redis: does it take writes, which time it has, do tasks pile up, ..."""

from __future__ import annotations

from typing import Any

import redis

from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, time_s
from battlebot.redisio.inspection import CLOCKS_APART_S, RedisInspection
from battlebot.redisio.tasklists import TaskLists

TASKS_WAIT_S = 60.0  # longer than tasks are left to wait before the sweeps ask again

BROKEN_FOR_S = 75  # after a worker has found a broken game; a sweep tries again within a minute


def note_broken_game(client: redis.Redis, sentence: str) -> None:
    """Has `Probes.games` fail with this sentence for `BROKEN_FOR_S`. Raises Unavailable."""
    with redis_errors():
        client.set(keys.BROKEN_GAME, sentence, ex=BROKEN_FOR_S)


class Probes:
    """Each raises Unavailable, with a sentence, if something is wrong."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._lists = [TaskLists(client, queue) for queue in (TaskLists.QUEUE, TaskLists.BOTS)]

    def redis(self) -> None:
        """Checks that Redis answers."""
        with redis_errors():
            self._client.ping()

    def writes(self) -> None:
        """Checks that Redis takes writes: with a full disk, or no memory left, it still answers a ping."""
        with redis_errors():
            self._client.set(keys.PROBED, "1", px=10_000)

    def clock(self) -> None:
        """Checks this machine's clock by Redis's: all parts go by that, but logs and certificates need a right one."""
        ahead_s, unsure_s = RedisInspection(self._client).clock()
        if abs(ahead_s) - unsure_s > CLOCKS_APART_S:
            words = "behind" if ahead_s > 0 else "ahead of"
            raise Unavailable(f"The clock of this node's machine is {abs(ahead_s):.1f} s {words} that of Redis.")

    def games(self) -> None:
        """Checks that no worker has lately failed to load the games."""
        with redis_errors():
            sentence: Any = self._client.get(keys.BROKEN_GAME)
        if sentence is not None:
            raise Unavailable(f"A worker cannot load the games: {sentence.decode()}")

    def tasks(self) -> None:
        """Checks that no task has waited for more than `TASKS_WAIT_S`."""
        for lists in self._lists:
            oldest_s = lists.oldest_s()
            if oldest_s is not None and (waited_s := time_s(self._client) - oldest_s) > TASKS_WAIT_S:
                count = sum(lists.lengths().values())
                whose = f"workers of the queue {lists.queue}" if lists.queue == TaskLists.BOTS else "workers"
                raise Unavailable(f"{count} tasks wait, the first for {waited_s:.0f} s: {whose} are behind.")
