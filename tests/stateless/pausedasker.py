"""A process that asks bots behind HTTP, as a worker does, and may be paused meanwhile; run by `-m gevent.monkey`.

Arguments: the bots' limit in seconds and their url. It asks for all of PHASES at once and prints each result.
"""

from __future__ import annotations

import sys
import time

import gevent
import orjson

from battlebot.runtime.lag import Lag
from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

# what the bot is to do: answer while this process is paused, answer after that, or never answer
PHASES = ("during", "after", "never")


def main(limit_s: float, url: str) -> None:
    """Asks each phase over a new and over a kept connection; the asker for `unnoticed` ignores its own lateness."""
    lag = Lag()
    lag.start()
    guard = Guard(loopback=True)
    noticing, unnoticing = HttpBots(guard, 65_536, 16, lag.total_s), HttpBots(guard, 65_536, 16)

    def ask(by: HttpBots, way: str, phase: str) -> list[object]:
        address = f"{url}/{way}-{phase}"
        if way != "new":
            by.ask(Question(address, "battlecube", "match", "bot", {"phase": "before"}, limit_s))
        began_s = time.monotonic()
        reply = by.ask(Question(address, "battlecube", "match", "bot", {"phase": phase}, limit_s))
        code = reply.failure.code if reply.failure is not None else None
        return [way, phase, code, reply.thinking_s, time.monotonic() - began_s]

    asked = [(noticing, way, phase) for way in ("new", "kept") for phase in PHASES]
    found = [gevent.spawn(ask, *one) for one in (*asked, (unnoticing, "unnoticed", "during"))]
    gevent.joinall(found, raise_error=True)
    sys.stdout.buffer.write(orjson.dumps([one.value for one in found]))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
