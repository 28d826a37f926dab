"""The inlet over real sockets: data, time-outs, interruptions, and a peer that sends while nobody reads."""

from __future__ import annotations

import socket
import struct
import sys
import time

import gevent
import pytest
from pairs import LIMIT_S, Pair, settle

from battlebot.transports.inlet import LONG_S, TOGETHER_S, Inlet, rings_at


def test_what_came_is_read_and_then_the_end(pair: Pair) -> None:
    """Also what came before anybody read."""
    ours, peer = pair
    inlet = Inlet(ours)
    peer.sendall(b"before")
    assert inlet.read(LIMIT_S) == b"before"
    gevent.spawn_later(0.01, peer.sendall, b"meanwhile")
    assert inlet.read(LIMIT_S) == b"meanwhile"
    peer.close()
    assert inlet.read(LIMIT_S) == b""
    inlet.close()


def test_a_read_without_data_ends_at_its_time_and_not_at_that_of_another(pair: Pair) -> None:
    """Its timer is one for many reads: a short one after a long one, and a long one after a short one."""
    ours, peer = pair
    inlet = Inlet(ours)
    for next_s in (LIMIT_S, 0.25):
        peer.sendall(b"x")
        assert inlet.read(next_s) == b"x"
    for wait_s in (0.5, 0.02, 0.2, 0.02):
        began_s = time.monotonic()
        with gevent.Timeout(LIMIT_S):
            assert inlet.read(wait_s) is None
        assert wait_s <= time.monotonic() - began_s < LIMIT_S / 2
    inlet.close()


@pytest.mark.parametrize("now_s", [0.05, 7.03, 86_400.07, 1e7 + 0.01])
def test_long_time_outs_end_together_and_never_early(now_s: float) -> None:
    """Those of ten thousand silent peers would each wake the process; a short one ends at its time."""
    due_s = {rings_at(now_s + late_s, LONG_S) for late_s in (0.0, 0.001, 0.02)}
    assert len(due_s) == 1
    assert now_s + 0.02 + LONG_S <= due_s.pop() <= now_s + LONG_S + TOGETHER_S * 1.001
    assert rings_at(now_s, 0.25) == now_s + 0.25


def test_data_after_a_time_out_is_not_lost(pair: Pair) -> None:
    """It is there for the next read."""
    ours, peer = pair
    inlet = Inlet(ours)
    assert inlet.read(0.01) is None
    peer.sendall(b"late")
    assert inlet.read(LIMIT_S) == b"late"
    inlet.close()


def test_who_reads_is_interrupted_and_who_does_not_is_left_alone(pair: Pair) -> None:
    """An interruption is for the wait of this moment."""
    ours, peer = pair
    inlet = Inlet(ours)
    hub = gevent.get_hub()
    hub.loop.run_callback(inlet.interrupt, KeyError("nobody reads"))
    gevent.sleep(0)
    hub.loop.run_callback(inlet.interrupt, KeyError("now"))
    with pytest.raises(KeyError, match="now"):
        inlet.read(LIMIT_S)
    peer.sendall(b"x")
    assert inlet.read(LIMIT_S) == b"x"
    inlet.close()


def test_data_that_nobody_reads_does_not_keep_the_process_busy(pair: Pair) -> None:
    """What a bot sends while its turn is being committed must wait without a sound."""
    ours, peer = pair
    inlet = Inlet(ours)
    peer.sendall(b"x")
    assert inlet.read(LIMIT_S) == b"x"
    peer.sendall(b"y")
    used_s = time.process_time()
    gevent.sleep(0.5)
    assert time.process_time() - used_s < 0.25
    assert inlet.read(LIMIT_S) == b"y"
    inlet.close()


def test_each_read_lets_others_run(pair: Pair) -> None:
    """Although data lies there: a flood must not keep everybody else from the processor."""
    ours, peer = pair
    inlet = Inlet(ours)
    turns: list[int] = []
    other = gevent.spawn(lambda: [turns.append(1) or gevent.sleep(0) for _ in range(3)])
    for done in range(1, 4):
        peer.sendall(b"x")
        inlet.read(LIMIT_S)
        assert len(turns) >= done
    other.join()
    inlet.close()


@pytest.mark.parametrize("linger", [b"", struct.pack("ii", 1, 0)])
def test_the_end_is_known_before_it_is_read(pair: Pair, linger: bytes) -> None:
    """Whether the peer ended it in order or by a reset, and though what it said before is still there."""
    ours, peer = pair
    inlet = Inlet(ours)
    peer.sendall(b"said before")
    assert not inlet.has_ended
    if linger:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    peer.close()
    # elsewhere than on Linux it is never known
    settle(lambda: inlet.has_ended is (sys.platform == "linux"))
    inlet.close()
