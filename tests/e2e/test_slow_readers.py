"""A bot that does not read: its outbox fills, it is closed, its opponent wins, and nobody else notices."""

from __future__ import annotations

import time
from contextlib import suppress

from peer import Message, Peer
from switchboard import Switchboard

SETTINGS = {"outbox_messages": 8, "send_timeout_s": 3.0, "close_timeout_s": 2.0, "turn_timeout_ms": 1000}

PAD = "x" * 8000  # kept in the echo: it fills buffers fast
ROUNDS = 200  # more than any buffer holds


def sit_with_a_stuck_bot(meet: Switchboard) -> tuple[Peer, Peer]:
    """(stuck, reader) at a new match with the reader on turn; the stuck bot's own buffer is as small as can be."""
    stuck = meet.login(meet.auth(stem="stuck"), receive_buffer=2048)
    reader = meet.login(meet.auth(stem="reader"))
    mover, _ = meet.seated(stuck, reader)
    if mover is stuck:
        stuck.send({"n": 0})
        stuck.update()
        reader.update()
    return stuck, reader


def play_blind(stuck: Peer, reader: Peer, rounds: int) -> Message:
    """The reader plays and tells the stuck bot when it is on turn, which plays without reading; the last update."""
    update: Message = {}
    for _ in range(rounds):
        for peer in (reader, stuck):
            with suppress(ConnectionError):
                peer.send({"n": 0, "pad": PAD})
            update = reader.update()
            if update["state"]["complete"]:
                return update
    return update


def test_a_bot_that_never_reads_loses_and_its_opponent_is_told_so(meet: Switchboard) -> None:
    """It goes on sending turns, in time and valid; but it cannot be told anything, and so it cannot play."""
    stuck, reader = sit_with_a_stuck_bot(meet)
    state = play_blind(stuck, reader, ROUNDS)["state"]
    assert (state["complete"], state["victor"], state["reason"]) == (True, reader.bot, "disconnect")
    assert reader.closed().code == 1000


def test_a_bot_that_reads_again_finds_whole_updates_and_then_the_reason(meet: Switchboard) -> None:
    """What was queued before the outbox was full is delivered, in order; the close frame says `slow-reader`."""
    stuck, reader = sit_with_a_stuck_bot(meet)
    play_blind(stuck, reader, 40)
    versions = []
    with suppress(Exception):
        while True:
            versions.append(stuck.update()["match"]["version"])
    assert versions == list(range(versions[0], versions[0] + len(versions)))
    closed = stuck.closed()
    assert (closed.code, closed.slug) == (1008, "slow-reader")


def test_a_stuck_bot_holds_up_nobody_else_on_its_node(meet: Switchboard) -> None:
    """Another pair plays a thousand turns while one bot is stuck; none of its turns waits for the stuck one."""
    stuck, reader = sit_with_a_stuck_bot(meet)
    assert play_blind(stuck, reader, 6)["state"]["complete"] is False
    reader.send({"n": 0})
    mover, other = meet.sit()
    slowest_s = 0.0
    for _ in range(1000):
        began_s = time.monotonic()
        mover.send({"n": 0})
        assert mover.update()["turn"]["valid"] is other.update()["turn"]["valid"] is True
        slowest_s = max(slowest_s, time.monotonic() - began_s)
        mover, other = other, mover
    # as long as a stuck writer would hold it up
    assert slowest_s < SETTINGS["send_timeout_s"]
    assert reader.final()["state"]["victor"] == reader.bot


def test_many_stuck_bots_that_never_log_in_and_never_read_hold_up_nobody(meet: Switchboard) -> None:
    """Salts that are not read cost a place each, and the pings and the end find their way without them."""
    for _ in range(50):
        meet(receive_buffer=2048)
    mover, other = meet.sit()
    mover.send({"n": 10})
    assert mover.final()["state"] == other.final()["state"]
