"""The outbox over real sockets: order, one writer, bounds, and peers that read slowly or not at all."""

from __future__ import annotations

import struct
import time

import gevent
import gevent.socket
import pytest
from pairs import Pair, read, read_all, settle

from battlebot.transports.outbox import Outbox

LIMIT_S = 10.0
BIG = b"x" * 50_000  # more than the buffers of both sockets hold


def test_messages_arrive_in_the_order_in_which_they_were_put(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """From several greenlets, each message whole; and each has its time, besides the least."""
    monkeypatch.setattr("battlebot.transports.outbox.LEAST_S", 0.0)
    ours, peer = pair
    outbox = Outbox(ours, 1000, 5.0)
    put: list[bytes] = []

    def put_some(letter: bytes) -> None:
        for _ in range(50):
            put.append(letter * 900)
            assert outbox.put(put[-1])
            gevent.sleep(0)

    writers = [gevent.spawn(put_some, letter) for letter in (b"a", b"b", b"c")]
    data = read(peer, 3 * 50 * 900)
    gevent.joinall(writers)
    assert data == b"".join(put)
    assert not outbox.failed


def test_a_message_that_the_peer_holds_up_is_reported_when_it_begins_to(pair: Pair) -> None:
    """Not to read wins a bot no time: neither for what is being written nor for what waits or comes behind it."""
    ours, peer = pair
    outbox = Outbox(ours, 10, 5.0)
    written: list[str] = []
    outbox.put(BIG, lambda _: written.append("first"))
    outbox.put(b"1", lambda _: written.append("second"))
    assert outbox.held_up
    assert written == ["first", "second"]
    outbox.put(b"2", lambda _: written.append("third"))
    assert written == ["first", "second", "third"]
    assert read(peer, len(BIG) + 2).endswith(b"12")
    settle(lambda: not outbox.held_up)
    outbox.put(b"3", lambda _: written.append("fourth"))
    assert read(peer, 1) == b"3"
    assert written[3:] == ["fourth"]


def test_what_the_system_takes_at_once_is_written_before_put_returns(pair: Pair) -> None:
    """No other greenlet runs for it: a turn is told with one system call."""
    ours, peer = pair
    outbox = Outbox(ours, 10, 5.0)
    written: list[float] = []
    outbox.put(b"now", written.append)
    assert (len(written), read_all(peer)) == (1, b"now")


def test_what_is_put_beyond_the_bound_is_not_queued(pair: Pair) -> None:
    """The bound is on what waits: one more is being written."""
    ours, _ = pair
    outbox = Outbox(ours, 3, 5.0)
    outbox.put(BIG)
    settle(lambda: not outbox._queue)
    assert [outbox.put(b"x") for _ in range(5)] == [True, True, True, False, False]
    assert len(outbox._queue) == 3


def test_the_last_message_has_room_even_in_a_full_outbox_and_nothing_comes_after_it(pair: Pair) -> None:
    """The close frame must get there."""
    ours, peer = pair
    outbox = Outbox(ours, 2, 5.0)
    outbox.put(BIG)
    settle(lambda: not outbox._queue)
    outbox.put(b"1")
    outbox.put(b"2")
    outbox.put_last(b"bye")
    outbox.put_last(b"bye again")
    assert read(peer, len(BIG) + 5)[len(BIG) :] == b"12bye"
    outbox.drain(LIMIT_S)
    assert outbox.put(b"late") is False
    assert read_all(peer) == b""


def test_the_connection_of_a_peer_that_does_not_read_is_cut(pair: Pair) -> None:
    """After the time that a message may take; what waited is dropped, and nothing is taken any more."""
    ours, _ = pair
    outbox = Outbox(ours, 10, 0.2)
    for _ in range(5):
        outbox.put(BIG)
    settle(lambda: outbox.failed)
    assert (len(outbox._queue), outbox.put(b"x"), outbox.held_up) == (0, False, True)
    outbox.put_last(b"bye")
    assert (len(outbox._queue), ours.recv(1)) == (0, b"")


def test_a_peer_that_reads_now_and_then_cannot_put_off_what_waits_for_long(pair: Pair) -> None:
    """Each message has its time from when it was queued, not from when its turn comes."""
    ours, peer = pair
    outbox = Outbox(ours, 100, 0.5)
    for _ in range(20):
        outbox.put(BIG)
    for _ in range(20):
        # a message each 0.3 s: were each measured alone, all would be in time
        until_s = time.monotonic() + 0.3
        size = 0
        while time.monotonic() < until_s:
            size += len(read_all(peer)) if size < len(BIG) else 0
            gevent.sleep(0.01)
        if outbox.failed:
            break
    assert outbox.failed


def test_a_message_that_has_waited_for_a_busy_server_is_not_the_peers_fault(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole process stood still for longer than a message may take; the peer takes it at once."""
    monkeypatch.setattr("battlebot.transports.outbox.LEAST_S", 5.0)  # a busy machine may take long, too
    ours, peer = pair
    outbox = Outbox(ours, 10, 0.05)
    outbox.put(BIG)
    outbox.put(b"1")
    time.sleep(0.1)  # no greenlet runs meanwhile: this is what is tested
    outbox.put(b"2")
    assert read(peer, len(BIG) + 2).endswith(b"12")
    assert not outbox.failed


def test_a_broken_socket_fails_the_outbox(pair: Pair) -> None:
    """Whatever is put after it is refused."""
    ours, peer = pair
    outbox = Outbox(ours, 10, 5.0)
    peer.close()
    settle(lambda: not outbox.put(b"x" * 1000))
    assert (outbox.failed, outbox.held_up) == (True, False)


def test_draining_waits_for_what_can_be_written_and_for_nothing_longer(pair: Pair) -> None:
    """With nothing to write it returns at once; with a stuck peer after its time."""
    ours, _ = pair
    outbox = Outbox(ours, 10, 5.0)
    outbox.drain(LIMIT_S)
    outbox.put(b"x")
    outbox.drain(LIMIT_S)
    assert not outbox._queue
    outbox.put(BIG)
    outbox.put(BIG)
    began_s = time.monotonic()
    outbox.drain(0.1)
    assert 0.1 <= time.monotonic() - began_s < 5.0
    assert not outbox.failed


def test_a_message_for_a_broken_connection_is_reported_too(pair: Pair) -> None:
    """The clock of a bot runs that breaks its connection before it is asked, and of one that has done so long ago."""
    ours, peer = pair
    outbox = Outbox(ours, 10, 5.0)
    peer.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    written: list[float] = []
    settle(lambda: outbox.failed or not outbox.put(b"1"))
    assert outbox.failed
    assert not outbox.put(b"2", written.append)
    assert len(written) == 1


def test_the_message_by_which_it_is_found_that_a_connection_is_broken_is_reported(pair: Pair) -> None:
    """As it is written, if it is the first since."""
    ours, _ = pair
    outbox = Outbox(ours, 10, 5.0)
    ours.shutdown(gevent.socket.SHUT_WR)
    written: list[float] = []
    outbox.put(b"1", written.append)
    assert (outbox.failed, len(written)) == (True, 1)
