"""The whole examination, in its order; an absent store is one finding, and checks that need it are left out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

from battlebot.arena.live.inspection import ArenaInspection
from battlebot.arena.live.queue import Queues
from battlebot.config import Settings
from battlebot.doctor import stores, work
from battlebot.doctor.finding import Finding, away
from battlebot.doctor.software import software
from battlebot.errors import Unavailable
from battlebot.redisio.connection import connect, time_s
from battlebot.redisio.inspection import RedisInspection
from battlebot.redisio.tasklists import TaskLists
from battlebot.redisio.unpaired import Unpaired
from battlebot.storage import Storage
from battlebot.storage.inspection import MongoInspection

ANSWER_WITHIN_S = 5.0


def examine(settings: Settings, workers: work.Workers) -> Iterator[Finding]:
    """Examines the installation through the stores of `settings`; `workers()` names those that answer a ping.

    Never raises Unavailable: what does not answer is a finding.
    """
    yield from software()
    client = connect(settings.redis_url, ANSWER_WITHIN_S)
    storage = Storage(settings, ANSWER_WITHIN_S)
    arena = ArenaInspection(client)
    lists = [TaskLists(client, queue) for queue in (TaskLists.QUEUE, TaskLists.BOTS)]
    database = MongoInspection(storage.client, storage.database)
    try:
        redis_there = yield from _unless_away("redis", lambda: stores.redis_server(RedisInspection(client)))
        if redis_there:
            yield from _unless_away("processes", lambda: work.processes(arena, settings, workers))
            yield from _unless_away("tasks", lambda: [work.tasks(one, time_s(client)) for one in lists])
            yield from _unless_away("queues", lambda: [work.waiting(Queues(client)), work.pairings(Unpaired(client))])
        mongodb_there = yield from _unless_away("mongodb", lambda: stores.mongodb_server(database))
        if mongodb_there:
            yield from _unless_away("disk", lambda: [stores.disk(storage, settings)])
            yield from _unless_away("ratings", lambda: [work.ratings(database), work.formats(database)])
        if redis_there and mongodb_there:
            yield from _unless_away("matches", lambda: work.matches(arena, storage))
    finally:
        storage.close()
        client.close()


def _unless_away(part: str, look: Callable[[], Iterable[Finding]]) -> Generator[Finding, None, bool]:
    """Yields what `look` finds; returns whether everything answered."""
    try:
        yield from look()
    except Unavailable as error:
        yield away(part, str(error))
        return False
    return True
