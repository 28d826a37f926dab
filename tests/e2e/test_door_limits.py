"""What one connection, one bot and one address may do: over each limit there is a close code and a reason."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from cluster import wait_for
from peer import BINARY, CONTINUED, PING, PONG, TEXT, Closed, Peer, frame
from switchboard import Seats, Switchboard

SETTINGS = {
    "max_message_bytes": 1000,
    "max_messages_per_s": 20.0,
    "max_connections_per_bot": 3,
    "max_connections_per_address": 12,
    "turn_timeout_ms": 2500,
    "relogin_free": 3,
    "relogin_delay_max_s": 0.3,
    "ping_interval_s": 0.5,
    "close_timeout_s": 1.0,
    "contests_per_minute": 2,
}


def text_of(size: int, stuff: str = "x") -> bytes:
    """A turn of so many bytes."""
    head, tail = '{"n": 0, "x": "', '"}'
    room = size - len(head) - len(tail)
    return (head + stuff * (room // len(stuff.encode())) + " " * (room % len(stuff.encode())) + tail).encode()


def lost(winner: Peer, loser: Peer) -> None:
    """The winner is told that the loser is gone for good."""
    state = winner.final()["state"]
    assert (state["victor"], state["reason"]) == (winner.bot, "disconnect")


def ended_with(peer: Peer, code: int, slug: str) -> None:
    """The connection ends with this close frame."""
    closed = peer.closed()
    assert (closed.code, closed.slug) == (code, slug)
    assert ": " in closed.reason


def test_a_message_of_just_the_size_is_taken(sit: Callable[..., Seats]) -> None:
    """The limit is inclusive."""
    mover, other = sit()
    mover.frame(TEXT, text_of(1000))
    assert mover.update()["turn"]["valid"] is other.update()["turn"]["valid"] is True


TOO_BIG: dict[str, Callable[[Peer], None]] = {
    "one byte too many": lambda peer: peer.frame(TEXT, text_of(1001)),
    "characters of three bytes": lambda peer: peer.frame(TEXT, text_of(1002, "€")),
    "a binary frame": lambda peer: peer.frame(BINARY, b"\0" * 1001),
    "in fragments": lambda peer: in_fragments(peer, TEXT, [b" " * 500, b" " * 500, b" "]),
    "binary in fragments": lambda peer: in_fragments(peer, BINARY, [b" " * 500, b" " * 500, b" "]),
    "more than all buffers hold": lambda peer: peer.raw(
        b"\x81\xff" + (2 * 10**7).to_bytes(8) + bytes(4) + b" " * 2 * 10**7
    ),
    "a header that announces very much": lambda peer: peer.raw(b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(4000)),
}


def in_fragments(peer: Peer, opcode: int, parts: list[bytes]) -> None:
    """One message in several frames."""
    for index, part in enumerate(parts):
        peer.frame(opcode if index == 0 else CONTINUED, part, fin=index == len(parts) - 1)


@pytest.mark.parametrize("kind", TOO_BIG)
def test_a_message_that_is_too_big_closes_with_1009_and_loses(sit: Callable[..., Seats], kind: str) -> None:
    """However it comes; the close frame arrives, though there is more of the message under way."""
    mover, other = sit()
    TOO_BIG[kind](mover)
    ended_with(mover, 1009, "too-big")
    lost(other, mover)


def test_too_many_messages_close_with_a_reason(meet: Switchboard) -> None:
    """Also while the bot waits for a match, when they are ignored."""
    peer = meet.login(meet.auth())
    peer.raw(frame(TEXT, b"{}") * 200)
    ended_with(peer, 1008, "rate")


FLOODS = {
    "pings": frame(PING, b"x") * 400,
    "pongs": frame(PONG, b"x") * 400,
    "empty fragments": frame(TEXT, b"", fin=False) + frame(CONTINUED, b"", fin=False) * 400,
}


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_frames_that_are_no_messages_closes_too(sit: Callable[..., Seats], kind: str) -> None:
    """What costs the server work counts, whatever it is; and the opponent has won."""
    mover, other = sit()
    mover.raw(FLOODS[kind])
    ended_with(mover, 1008, "rate")
    lost(other, mover)


def test_an_update_lets_a_bot_send_one_message_more(sit: Callable[..., Seats]) -> None:
    """Two fast bots play many more turns a second than the limit says: each answers what it was sent."""
    mover, other = sit()
    for _ in range(150):
        mover.send({"n": 0})
        assert mover.update()["turn"]["valid"] is other.update()["turn"]["valid"] is True
        mover, other = other, mover


def test_too_many_connections_of_a_bot_are_closed(meet: Switchboard) -> None:
    """The fourth; when one of the others has gone there is room again."""
    auth = meet.auth()
    held = [meet.login(auth) for _ in range(3)]
    fourth = meet.login(auth)
    ended_with(fourth, 1008, "too-many-connections")
    held[0].close()
    wait_for(lambda: is_kept(meet.login(auth)), "room for another connection")


def is_kept(peer: Peer) -> bool:
    """Whether the connection lives on: its place may be given back a moment after the other's goodbye."""
    try:
        peer.any_frame(0.2)
    except (Closed, TimeoutError) as end:
        return isinstance(end, TimeoutError)
    return False


def test_a_bot_with_too_many_connections_is_slowed_down(meet: Switchboard) -> None:
    """Its reconnecting in a loop would be the tightest of all."""
    auth = meet.auth()
    for _ in range(3):
        meet.login(auth)
    took = []
    for _ in range(7):
        peer = meet()
        began_s = time.monotonic()
        assert peer.log_in(auth)["authentication"] == "OK"
        took.append(time.monotonic() - began_s)
        ended_with(peer, 1008, "too-many-connections")
    assert took[-1] >= 0.3


def test_too_many_connections_of_an_address_are_closed(meet: Switchboard) -> None:
    """Instead of a salt there is the close frame; when one of the others has gone there is room again."""
    peers = [meet() for _ in range(12)]
    for peer in peers:
        peer.message()
    with pytest.raises(Closed) as caught:
        meet().message()
    assert (caught.value.code, caught.value.slug) == (1008, "too-many-connections")
    peers[0].close()
    wait_for(lambda: is_greeted(meet()), "room for another connection")


def is_greeted(peer: Peer) -> bool:
    """Whether there is a salt."""
    try:
        return "salt" in peer.message()
    except Closed:
        return False


def test_a_waiting_bot_that_answers_no_ping_is_closed_with_a_reason(meet: Switchboard) -> None:
    """Else it would be matched, and lose, though it has been gone for long."""
    peer = meet.login(meet.auth())
    peer.mute = True
    ended_with(peer, 1008, "silent")


def test_a_waiting_bot_that_answers_pings_is_kept(meet: Switchboard) -> None:
    """For many ping intervals."""
    peer = meet.login(meet.auth())
    with pytest.raises(TimeoutError):
        peer.any_frame(2.5)


def test_an_address_that_opens_too_many_contests_is_told_so(meet: Switchboard) -> None:
    """In the answer to the login, by a code; it is let into those that there are, of which it had opened two."""
    auth, refused, opened = meet.auth(), [], []
    # a minute of the clock may end between them
    for number in range(6):
        peer = meet()
        reply = peer.log_in(auth, contest=f"mine {number}")
        if reply["authentication"] == "OK":
            opened.append(f"mine {number}")
            peer.close()
        else:
            refused.append(reply)
            ended_with(peer, 1008, "too-many")
    assert 2 <= len(opened) <= 4
    assert {reply["code"] for reply in refused} == {"too-many"}
    for contest in opened * 3:
        peer = meet()
        assert peer.log_in(auth, contest=contest)["authentication"] == "OK"
        peer.close()
