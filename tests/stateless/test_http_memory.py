"""What answers of HTTP bots take in the asking process while they come, and what is left of them: nothing."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import orjson
from cluster import free_port
from httpbots import Bots

from battlebot.stateless.http.response import Response

ASKER = Path(__file__).with_name("leftoverasker.py")
LIMIT_S = 60.0
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MOST_BYTES = 65_536


def test_an_answer_in_many_chunks_takes_no_more_memory_than_another() -> None:
    """Each chunk as an object of its own would take many times its size, for as long as the bot likes."""
    answer, chunks = Response(MOST_BYTES), b"2\r\n  \r\n" * (MOST_BYTES // 2)
    tracemalloc.start()
    answer.feed(CHUNKED)
    for at in range(0, len(chunks), 1000):
        answer.feed(chunks[at : at + 1000])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * MOST_BYTES
    assert len(answer.body) == MOST_BYTES


def test_an_answer_is_not_left_to_the_collector(bots: Bots) -> None:
    """Nor one that is none: it runs so seldom in a worker that hundreds of megabytes would gather."""
    behaviours = ("good", "chunked", "closing", "twice", "huge", "binary", "cut", "dying", "hanging")
    assert not any(left_of(*map(bots.url, behaviours)).values())


def test_nor_is_a_question_that_could_not_be_put() -> None:
    """Its error would hold it, with all that was at work."""
    assert not any(left_of(f"http://127.0.0.1:{free_port()}/", "http://nobody.invalid/").values())


def left_of(*urls: str) -> dict[str, list[str]]:
    """Returns for each url what is left of questions to it."""
    run = subprocess.run(
        [sys.executable, "-m", "gevent.monkey", str(ASKER), *urls], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True
    )
    left: dict[str, list[str]] = orjson.loads(run.stdout)
    return left
