"""Bots that are slow on purpose, or gone without a word: nobody waits for them longer than the limits say."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from cluster import Web
from peer import PING, TEXT, Closed, Peer, frame, login_for
from switchboard import Seats, Switchboard

SETTINGS = {
    "login_timeout_s": 1.0,
    "ping_interval_s": 1.5,
    "send_timeout_s": 1.0,
    "close_timeout_s": 0.5,
    "turn_timeout_ms": 1000,
    "waiting_timeout_s": 3.0,
}
PAUSE_S = 0.1


def dribble(peer: Peer, data: bytes) -> float:
    """Sends byte after byte until the server has enough; answers after how many seconds that was."""
    began_s = time.monotonic()
    for at in range(len(data)):
        try:
            peer.raw(data[at : at + 1])
            peer.any_frame(PAUSE_S)
        except TimeoutError:
            continue
        except (Closed, OSError):
            break
    return time.monotonic() - began_s


@pytest.mark.parametrize("kind", ["a byte now and then", "pings", "fragments", "nothing"])
def test_who_does_not_log_in_is_closed_when_the_time_is_over(meet: Switchboard, kind: str) -> None:
    """Whatever it does instead: the time is for the whole login, from the salt to its last byte."""
    auth, began_s = meet.auth(), time.monotonic()
    peer = meet()
    login = frame(TEXT, json.dumps(login_for(auth, peer.message()["salt"])).encode())
    if kind == "a byte now and then":
        dribble(peer, login)
    elif kind == "pings":
        dribble(peer, frame(PING, b"x" * 100))
    elif kind == "fragments":
        dribble(peer, b"".join(frame(TEXT if not n else 0, b"{" if not n else b" ", fin=False) for n in range(50)))
    assert peer.closed().slug == "login-failed"
    assert 0.9 <= time.monotonic() - began_s < 10


def test_a_turn_that_comes_byte_by_byte_is_late(sit: Callable[..., Seats]) -> None:
    """The clock stops with its last byte, not with its first."""
    mover, other = sit()
    dribble(mover, frame(TEXT, b'{"n": 10}' + b" " * 50))
    state = other.final()["state"]
    assert (state["victor"], state["reason"], state["board"]) == (other.bot, "timeout", {"n": 0})


def test_a_message_without_end_keeps_nobody_waiting_for_longer(web: Web, meet: Switchboard) -> None:
    """A bot outside contests that waits is closed in time, also in the middle of a message."""
    peer = meet.login(meet.auth())
    assert dribble(peer, frame(TEXT, b" " * 120)) < 10
    assert peer.closed().slug == "nobody-came"


def test_a_bot_that_has_vanished_is_closed_within_three_pings(meet: Switchboard) -> None:
    """A half-open connection: nothing comes, not even pongs, and nothing says that it is over."""
    peer = meet.login(meet.auth(), login={"contest": "vanished"})
    peer.mute = True
    began_s = time.monotonic()
    assert peer.closed().slug == "silent"
    assert time.monotonic() - began_s < 20
