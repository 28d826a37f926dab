"""Odd and hostile peers at the level of bytes: what is right is answered, what is wrong is closed with a code."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable

import pytest
from peer import BINARY, CLOSE, CONTINUED, PING, PONG, TEXT, Closed, Peer, frame, login_for
from switchboard import Seats, Switchboard

SETTINGS = {"turn_timeout_ms": 2500, "close_timeout_s": 1.0, "max_messages_per_s": 1000.0}


def test_a_client_that_sends_one_byte_at_a_time_plays_as_any_other(meet: Switchboard) -> None:
    """Login and turns, each byte a packet of its own."""
    slow = meet()
    auth = meet.auth()
    slow.bot = auth["bot_id"]
    trickle(slow, frame(TEXT, json.dumps(login_for(auth, slow.message()["salt"])).encode()))
    assert slow.message()["authentication"] == "OK"
    other = meet.login(meet.auth())
    mover, _ = meet.seated(slow, other)
    if mover is other:
        other.send({"n": 0})
        assert slow.update()["state"] == other.update()["state"]
    trickle(slow, frame(TEXT, b'{"n": 10}'))
    assert slow.update()["state"] == other.update()["state"]


def trickle(peer: Peer, data: bytes) -> None:
    """Byte by byte; TCP_NODELAY is set."""
    for at in range(len(data)):
        peer.raw(data[at : at + 1])


def test_a_turn_in_fragments_is_one_turn(sit: Callable[..., Seats]) -> None:
    """Also with a ping between them, and cut in the middle of a character."""
    mover, other = sit()
    text = '{"n": 1, "x": "é€"}'.encode()
    cut = text.index(b"\xc3") + 1
    mover.frame(TEXT, text[:cut], fin=False)
    mover.frame(PING, b"between")
    mover.frame(CONTINUED, b"", fin=False)
    mover.frame(CONTINUED, text[cut:])
    update = mover.update()
    assert (update["turn"]["x"], update["turn"]["valid"]) == ("é€", True)
    assert mover.pongs == [b"between"]
    assert other.update()["state"]["board"] == {"n": 1}


@pytest.mark.parametrize("payload", [b"", b"x" * 125])
def test_a_ping_is_answered_with_what_it_held(sit: Callable[..., Seats], payload: bytes) -> None:
    """On turn and off turn; a ping is no turn, and no strike."""
    for peer in sit():
        peer.frame(PING, payload)
        with pytest.raises(TimeoutError):
            peer.any_frame(0.1)
        assert peer.pongs == [payload]


def test_pings_are_answered_while_updates_are_sent_and_no_frame_is_torn(sit: Callable[..., Seats]) -> None:
    """Two thousand pings against two hundred updates of 8 kB: a frame written into another would break the stream."""
    mover, other = sit()
    rounds, pings = 100, 2000

    def ping() -> None:
        for count in range(pings):
            other_lock.acquire()
            other.frame(PING, struct.pack("!I", count))
            other_lock.release()

    other_lock = threading.Lock()
    thread = threading.Thread(target=ping)
    thread.start()
    first, second = mover, other
    for _ in range(rounds):
        with other_lock:
            mover.send({"n": 0, "pad": "x" * 8000})
        states = [first.update()["state"], second.update()["state"]]
        assert states[0] == states[1]
        mover = second if mover is first else first
    thread.join()
    with pytest.raises(TimeoutError):
        other.any_frame(0.1)
    answered = [struct.unpack("!I", pong)[0] for pong in other.pongs]
    assert answered == sorted(answered)
    assert answered


def test_a_pong_that_nobody_asked_for_is_ignored(sit: Callable[..., Seats]) -> None:
    """As RFC 6455 allows, for a one-way heartbeat."""
    mover, other = sit()
    mover.frame(PONG, b"I live")
    mover.send({"n": 10})
    assert mover.update()["state"] == other.update()["state"]


VIOLATIONS: dict[str, tuple[bytes, int]] = {
    "text that is not UTF-8": (frame(TEXT, b'{"n": "\xff\xfe"}'), 1007),
    "an unmasked frame": (b"\x81\x02{}", 1002),
    "an unknown opcode": (frame(0x3, b"{}"), 1002),
    "a reserved bit": (b"\xc1" + frame(TEXT, b"{}")[1:], 1002),
    "a continuation of nothing": (frame(CONTINUED, b"{}"), 1002),
    "a new message inside another": (frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002),
    "a ping in fragments": (frame(PING, b"", fin=False), 1002),
    "a ping too long": (frame(PING, b"x" * 126), 1002),
    "a close code that is none": (frame(CLOSE, struct.pack("!H", 5)), 1002),
    "half a close code": (frame(CLOSE, b"\x03"), 1002),
    "a close reason that is not UTF-8": (frame(CLOSE, b"\x03\xe8\xff"), 1007),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1002),
}


@pytest.mark.parametrize("kind", VIOLATIONS)
def test_what_is_no_websocket_is_closed_with_a_code_and_loses_the_match(sit: Callable[..., Seats], kind: str) -> None:
    """The opponent wins: garbage on the wire is never a draw."""
    mover, other = sit()
    data, code = VIOLATIONS[kind]
    mover.raw(data)
    closed = mover.closed()
    assert (closed.code, closed.slug) == (code, "protocol-error")
    assert mover.nothing_more()
    assert other.final()["state"]["victor"] == other.bot


@pytest.mark.parametrize("kind", VIOLATIONS)
def test_what_is_no_websocket_before_the_login_is_closed_with_a_code(meet: Switchboard, kind: str) -> None:
    """The same for who is nobody yet."""
    peer = meet()
    peer.message()
    data, code = VIOLATIONS[kind]
    peer.raw(data)
    assert peer.closed().code == code


def test_a_peer_that_says_goodbye_while_updates_are_under_way_gets_them_and_the_goodbye(
    sit: Callable[..., Seats],
) -> None:
    """Forty turns' updates are in flight when its close frame comes: whole frames, then the close frame's echo."""
    mover, other = sit()
    for index in range(40):
        sender, reader = (mover, other) if index % 2 == 0 else (other, mover)
        sender.send({"n": 0, "pad": "x" * 1000})
        if sender is mover:
            sender.update()
        else:
            reader.update()
    other.frame(CLOSE, struct.pack("!H", 1000) + b"enough")
    for _ in range(40):
        other.update()
    with pytest.raises(Closed, match="closed with 1000"):
        other.any_frame()
    mover.send({"n": 0})
    assert mover.final()["state"]["victor"] == mover.bot


def test_who_pings_after_the_servers_close_frame_still_gets_the_last_update(sit: Callable[..., Seats]) -> None:
    """A ping that crosses the end of the match on its way is no offence."""
    mover, other = sit()
    other.raw(frame(PING, b"x") * 50)
    mover.raw(frame(TEXT, b'{"n": 10}') + frame(PING, b"x") * 50)
    for peer in (mover, other):
        peer.frame(PING, b"later")
        assert peer.update()["state"]["complete"] is True
        assert peer.closed().code == 1000


def test_turns_after_the_end_of_the_match_are_ignored(sit: Callable[..., Seats]) -> None:
    """They crossed the end on their way: the close frame comes, and nothing before it."""
    mover, other = sit()
    mover.raw(frame(TEXT, b'{"n": 10}') * 20 + frame(BINARY, b"x") * 20)
    assert mover.update()["state"]["complete"] is True
    closed = mover.closed()
    assert (closed.code, closed.reason) == (1000, "")
    assert other.update()["state"]["complete"] is True


def test_hundreds_of_connections_that_never_log_in_hold_up_nobody(meet: Switchboard, sit: Callable[..., Seats]) -> None:
    """They only cost their place."""
    for _ in range(200):
        meet()
    mover, other = sit()
    mover.send({"n": 10})
    assert mover.update()["state"] == other.update()["state"]
