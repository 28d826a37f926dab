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
UPGRADE = (
    *("GET / HTTP/1.1", "Host: here", "Connection: Upgrade", "Upgrade: websocket"),
    *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
)


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


def test_bots_that_come_do_not_wait_for_all_requests_that_came_at_that_moment(web: Web, clients: list[Raw]) -> None:
    """Their turns' times may run. Whose event the node sees first is up to its system, so one comes first, one last."""
    answered = poll()
    first, *others, last = clients
    with standing_still(web.child.pid):
        first.send(*UPGRADE)
        for client in others:
            client.send(*REQUEST)
            answered.register(client.sock, POLLIN)
        last.send(*UPGRADE)
    for bot in (first, last):
        assert bot.sock.recv(12) == b"HTTP/1.1 101"
    assert len(answered.poll(0)) < 0.75 * len(others)
    assert all(client.answer().status == 404 for client in others)
