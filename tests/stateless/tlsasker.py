"""A process that asks a bot behind HTTPS, as a worker does; run by `-m gevent.monkey`.

Arguments: the bot's url, its limit in seconds, and the size of the question in kB. It prints the answer, or the code
of the failure, and the bot's time in seconds.
"""

from __future__ import annotations

import sys

import orjson

from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard


def main(url: str, limit_s: float, size_kb: int) -> None:
    """Asks once. The bot's name must resolve to this machine."""
    content = {"gameInfo": {"numOfTasksPerTick": 1}, "players": ["x" * 1000] * size_kb}
    reply = HttpBots(Guard(loopback=True), 65_536, 16).ask(
        Question(url, "battlecube", "match", "bot", content, limit_s)
    )
    found = reply.value if reply.failure is None else reply.failure.code
    sys.stdout.buffer.write(orjson.dumps([found, reply.thinking_s]))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
