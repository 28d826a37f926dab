"""A process that asks bots behind HTTP, as a worker does, some of which flood it; run by `-m gevent.monkey`.

Its argument is the bots' url. It prints the result of each question, the longest wait (s) of another greenlet, and how
often another greenlet had its turn while a long answer was read that had already arrived.
"""

from __future__ import annotations

import socket
import sys
import time

import gevent
import orjson

from battlebot.runtime.lag import Lag
from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

LIMIT_S = 5.0
LONG = 1_000_000  # bytes
ASKED = ("flooding/extension", "flooding/zeros", "flooding/trailer", "good", "slow")


def ask(by: HttpBots, url: str) -> str | None:
    """Asks the bot; returns the code of the failure, or None."""
    failure = by.ask(Question(url, "battlecube", "match", "bot", {}, LIMIT_S)).failure
    return failure.code if failure is not None else None


def flooded(url: str) -> tuple[dict[str, str | None], float]:
    """Asks all at once; returns each result, and the longest wait of another greenlet."""
    lag = Lag()
    lag.start()
    by = HttpBots(Guard(loopback=True), 65_536, 16, lag.total_s)
    waits_s: list[float] = []

    def tick() -> None:
        while True:
            began_s = time.monotonic()
            gevent.sleep(0.02)
            waits_s.append(time.monotonic() - began_s)

    ticking = gevent.spawn(tick)
    asking = {name: gevent.spawn(ask, by, f"{url}/{name}") for name in ASKED}
    gevent.joinall(asking.values(), raise_error=True)
    gevent.sleep(0.1)
    ticking.kill()
    return {name: one.value for name, one in asking.items()}, max(waits_s)


def turns_of_others() -> int:
    """Counts another greenlet's turns while an answer is read, which the bot, a greenlet too, has written in full."""
    listener = socket.create_server(("127.0.0.1", 0))
    ticks, seen = [0], []

    def answer() -> None:
        connection, _ = listener.accept()
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n[%*s" % (LONG, LONG - 1, b"]"))
        seen.clear()

    def tick() -> None:
        while True:
            ticks[0] += 1
            gevent.sleep(0)

    def late_s() -> float:
        """Returns 0 (never late), and records the tick: it is called before each read."""
        seen.append(ticks[0])
        return 0.0

    others = [gevent.spawn(answer), gevent.spawn(tick)]
    code = ask(HttpBots(Guard(loopback=True), LONG, 16, late_s), f"http://127.0.0.1:{listener.getsockname()[1]}/")
    assert code is None
    gevent.killall(others)
    return len(set(seen))


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps([*flooded(sys.argv[1]), turns_of_others()]))
