"""A bot whose program does one thing at a time: while it thinks it reads nothing, and answers no ping."""

from __future__ import annotations

from peer import PONG
from switchboard import Switchboard

SETTINGS = {"ping_interval_s": 0.5, "turn_timeout_ms": 60_000}
MANY = 5  # pings, of which two may go unanswered


def test_it_may_think_for_as_long_as_its_clock_allows(meet: Switchboard) -> None:
    """But who has nothing to think about and answers no ping is gone."""
    mover, other = meet.sit()
    for _ in range(MANY):
        mover.unanswered_ping()
        other.frame(PONG)
    mover.send({"n": 0})
    for peer in (mover, other):
        assert peer.update()["turn"]["valid"] is True
    other.send({"n": 0})
    for peer in (mover, other):
        assert peer.update()["state"]["nextPlayer"] == mover.bot
    other.mute = True
    assert other.closed().slug == "silent"
