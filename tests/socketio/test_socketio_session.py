"""What waits for one viewer is bounded, by its number and by its size."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from cluster import LIMIT_S

from battlebot.transports.limits import Rate
from battlebot.transports.socketio_session import MOST_BYTES, MOST_IN_A_POLL, MOST_WAITING, Session


class Server:
    """Holds packets for a viewer; `looked` is released at each look at them."""

    def __init__(self, *sizes: int, polls: bool = False) -> None:
        self.packets: list[Any] = [SimpleNamespace(data="x" * size) for size in sizes]
        self.polls = polls
        self.looked = threading.Semaphore(0)

    def waiting(self, sid: str) -> tuple[list[Any], bool]:
        """As the servers of both generations do."""
        self.looked.release()
        return self.packets, self.polls


FULL = {
    "many": Server(*[1] * MOST_WAITING),
    "many in a poll": Server(*[1] * MOST_IN_A_POLL, polls=True),
    "large ones": Server(*[MOST_BYTES // 4] * 4),
}


@pytest.mark.parametrize("server", FULL.values(), ids=FULL)
def test_no_more_is_added_until_the_viewer_has_read(server: Server) -> None:
    """It reads one, and there is room."""
    session = Session(server, "sid", "address", Rate(1.0))
    waiter = threading.Thread(target=session.waits)
    waiter.start()
    for _ in range(3):
        assert server.looked.acquire(timeout=LIMIT_S)
    assert waiter.is_alive()
    server.packets.pop()
    waiter.join(LIMIT_S)
    assert not waiter.is_alive()


def test_the_end_of_a_session_takes_no_room() -> None:
    """None among the packets stands for it."""
    server = Server()
    server.packets.append(None)
    assert Session(server, "sid", "address", Rate(1.0)).waits()
