"""A node of its door has died while a bot was away: it may have come back to that one."""

from __future__ import annotations

import pytest
from matches import START_S, Play

from battlebot.referee.events import Joined, Left, Orphaned, Overdue, Stranded

GRACE_S = 15.0
CLOCK_S = 3.0
BROKEN = Left("a", "a/1", clean=False, thinking_s=1.0)


def stranded(left: Left | Orphaned) -> Play:
    """A match, `a` on turn, whose bot has gone like that, and a second later may have come to a node that has died."""
    play = Play()
    play.event(left)
    play.event(Stranded("a"), 1.0)
    return play


def test_it_has_the_whole_grace_and_then_the_match_is_void() -> None:
    """Nobody can tell whether it came."""
    play = stranded(BROKEN)
    assert play.match.due_s == START_S + 1.0 + GRACE_S
    play.event(Overdue(), GRACE_S - 0.1)
    assert play.match.verdict is None
    play.event(Overdue(), 0.1)
    assert play.verdict() == (None, "error", "server")


def test_its_clock_stands_still_until_it_is_back() -> None:
    """What it thought before is charged."""
    play = stranded(BROKEN)
    play.event(Joined("a", "a/2"), 10.0)
    assert play.seat("a").remaining_s == pytest.approx(CLOCK_S - 1.0)


def test_a_second_node_that_dies_gives_no_second_grace() -> None:
    """A server whose nodes die one after the other must not wait for it for ever."""
    play = stranded(BROKEN)
    due_s = play.match.due_s
    play.event(Stranded("a"), 5.0)
    assert play.match.due_s == due_s


@pytest.mark.parametrize("bot", ["b", "c"])
def test_nobody_else_is_spared(bot: str) -> None:
    """Neither who is seated, nor who has no seat."""
    play = Play()
    before = play.match
    play.event(Stranded(bot), 1.0)
    assert play.match is before


def test_who_left_by_itself_is_not_spared() -> None:
    """Nor may it hope for a node to die."""
    play = stranded(Left("a", "a/1", clean=True, thinking_s=1.0))
    play.event(Overdue(), CLOCK_S)
    assert play.verdict() == ("b", "disconnect", "bot")


def test_who_plays_elsewhere_meanwhile_is_not_spared() -> None:
    """It could have come back."""
    play = stranded(BROKEN)
    play.event(Overdue(("a",)), GRACE_S)
    assert play.verdict() == ("b", "disconnect", "bot")
