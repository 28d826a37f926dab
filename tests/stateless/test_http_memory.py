"""What answers of HTTP bots take in the asking process while they come."""

from __future__ import annotations

import tracemalloc

from battlebot.stateless.http.response import Response

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
