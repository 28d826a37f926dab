"""A process that asks bots behind HTTP, as a worker does, without the collector; run by `-m gevent.monkey`.

Its arguments are their urls. It prints how much of two questions to each is still in memory when they are over.
"""

from __future__ import annotations

import gc
import sys

import gevent
import orjson

from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard
from battlebot.stateless.http.response import Response

LIMIT_S = 0.5
CONTENT = {"gameInfo": {"numOfTasksPerTick": 2}}


def left_of(url: str) -> list[str]:
    """Asks the bot twice; returns the kinds of what is left, one each."""
    by = HttpBots(Guard(loopback=True), 65_536, 16)
    for _ in range(2):
        gevent.spawn(by.ask, Question(url, "battlecube", "match", "bot", CONTENT, LIMIT_S)).join()
    left = [type(one).__name__ for one in gc.get_objects() if type(one) in (Question, Response)]
    gc.collect()
    return left


if __name__ == "__main__":
    gc.disable()
    sys.stdout.buffer.write(orjson.dumps({url: left_of(url) for url in sys.argv[1:]}))
