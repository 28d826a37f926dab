"""Hundreds of requests that come at one moment, each over its own connection: the bots' turns do not wait for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from select import POLLIN, poll

import pytest
from client import Raw
from cluster import Web
from standstill import standing_still
from switchboard import Seats

SETTINGS = {"header_timeout_s": 60.0}
MANY = 400  # connections, fewer than an address may have
REQUEST = ("GET /no-such-page HTTP/1.1", "Host: here")


@pytest.fixture
def clients(web: Web) -> Iterator[list[Raw]]:
    """Connections that the node has accepted: each has had an answer."""
    with ExitStack() as stack:
        made = [stack.enter_context(Raw(web.address)) for _ in range(MANY)]
        for client in made:
            client.send(*REQUEST)
            assert client.answer().status == 404
        yield made


def test_a_turn_does_not_wait_for_all_requests_that_came_before_it(
    web: Web, clients: list[Raw], sit: Callable[..., Seats]
) -> None:
    """All of it lies there when the node looks, and each request takes it milliseconds."""
    mover, _ = sit()
    answered = poll()
    with standing_still(web.child.pid):
        for client in clients:
            client.send(*REQUEST)
            answered.register(client.sock, POLLIN)
        mover.send({"n": 1})
    assert mover.update()["turn"]["valid"]
    assert len(answered.poll(0)) < MANY
    assert all(client.answer().status == 404 for client in clients)
