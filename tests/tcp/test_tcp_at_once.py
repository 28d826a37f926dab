"""Large logins that come to the TCP door at one moment, over many connections: the players' moves do not wait."""

from __future__ import annotations

from collections.abc import Callable
from select import POLLIN, poll

from cluster import Tcp
from standstill import standing_still
from tcp_peer import Pair, TcpPeer

TCP_SETTINGS = {"login_timeout_s": 60.0, "turn_timeout_ms": 20_000}
MANY = 200
LARGE = b'{"username": [' + b"[]," * 10_000 + b"0]}"


def test_a_move_does_not_wait_for_all_large_logins_that_came_before_it(
    tcp: Tcp, join: Callable[..., TcpPeer], pair: Callable[..., Pair]
) -> None:
    """All of it lies there when the node looks, and it takes milliseconds to decode one of them."""
    board = pair()
    others = [join(enter=False) for _ in range(MANY)]
    for other in others:
        other.send(b"no login")
        assert other.event("error")
    answered = poll()
    with standing_still(tcp.child.pid):
        for other in others:
            other.send(LARGE)
            answered.register(other.sock, POLLIN)
        board.mover.move(board.question, 7, 7)
    assert board.other.event("get_move")
    assert len(answered.poll(0)) < MANY
    assert all(other.event("error") for other in others)
