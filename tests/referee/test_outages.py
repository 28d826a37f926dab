"""The whole server was away: what empty seats are allowed for it, and what not."""

from __future__ import annotations

import pytest
from matches import GAMES, START_S, Play, a_game_that_goes_on

from battlebot.referee.events import Joined, Left, Orphaned, Outage, Overdue, Turned

GRACE_S = 15.0
CLOCK_S = 3.0
AWAY_S = 60.0


def after_an_outage(*events: Left | Orphaned, after_s: float = 0.0, **limits: float) -> Play:
    """A match, `a` on turn, after these events `after_s` before an outage that has just ended."""
    play = Play(**limits)
    for event in events:
        play.event(event)
    play.event(Outage(START_S + after_s, START_S + after_s + AWAY_S), after_s + AWAY_S)
    return play


@pytest.mark.parametrize("bot", ["a", "b"])
@pytest.mark.parametrize("how", [Left, Orphaned])
def test_absent_bots_have_the_whole_grace_after_it(bot: str, how: type) -> None:
    """However they went; who then stays away loses, or makes the match void, as without an outage."""
    event = Orphaned(bot, f"{bot}/1") if how is Orphaned else Left(bot, f"{bot}/1", clean=True)
    play = after_an_outage(event, after_s=1.0)
    assert play.match.due_s == play.now_s + GRACE_S
    play.event(Overdue(), GRACE_S - 0.1)
    assert play.match.verdict is None
    play.event(Overdue(), 0.1)
    other = "b" if bot == "a" else "a"
    assert play.verdict() == ((None, "error", "server") if how is Orphaned else (other, "disconnect", "bot"))


def test_a_clock_is_charged_up_to_it_and_stopped_until_the_bot_is_back() -> None:
    """The bot left on its turn with a second of thought, and a second before: those are gone."""
    play = after_an_outage(Left("a", "a/1", clean=True, thinking_s=1.0), after_s=1.0)
    play.event(Joined("a", "a/2"), 14.0)
    assert play.seat("a").remaining_s == pytest.approx(CLOCK_S - 2.0)
    play.event(Joined("a", "a/3"), 0.5)
    assert play.seat("a").remaining_s == pytest.approx(CLOCK_S - 2.5), "it runs again"


@pytest.mark.parametrize("looked_s", [None, 2.0])
def test_who_comes_back_while_it_lasts_was_not_kept_out(looked_s: float | None) -> None:
    """It is charged for all the time that it was gone, whoever was told of the outage meanwhile."""
    play = Play(turn_timeout_s=20.0)
    play.event(Left("a", "a/1", clean=False), 1.0)
    if looked_s is not None:
        play.event(Outage(START_S, play.now_s + looked_s, lasts=True), looked_s)
    play.event(Outage(START_S, START_S + 9.0, lasts=True), START_S + 9.0 - play.now_s)
    assert play.match.due_s is not None
    assert play.match.due_s >= play.now_s + GRACE_S, "it is not missed"
    play.event(Joined("a", "a/2", until_s=START_S + 8.0))
    assert play.seat("a").remaining_s == pytest.approx(20.0 - 7.0)


def test_who_comes_back_after_it_was_kept_out_though_it_had_lasted() -> None:
    """What was told of it while it lasted changes nothing, except that nobody is missed."""
    told, fresh = Play(), Play()
    for play in (told, fresh):
        play.event(Left("a", "a/1", clean=False, thinking_s=1.0), 1.0)
    for until_s in (5.0, 30.0):
        told.event(Outage(START_S + 2.0, START_S + until_s, lasts=True), START_S + until_s - told.now_s)
    for play in (told, fresh):
        play.event(Outage(START_S + 2.0, START_S + AWAY_S), START_S + AWAY_S - play.now_s)
    assert told.match.seats == fresh.match.seats
    told.event(Joined("a", "a/2"), 5.0)
    assert told.seat("a").remaining_s == pytest.approx(CLOCK_S - 2.0)


def test_who_is_asked_after_it_while_still_absent_has_a_full_clock() -> None:
    """It could not know that it was asked."""
    play = after_an_outage(Left("b", "b/1", clean=False))
    play.turn("a", 1.0, n=1)
    play.event(Joined("b", "b/2"), 13.0)
    assert play.seat("b").remaining_s == CLOCK_S
    assert not play.seat("b").stopped


def test_who_is_not_waited_for_needs_no_allowance() -> None:
    """The others play on without it until it is asked."""
    play = Play(a_game_that_goes_on(), ("a", "b", "c"), turn_timeout_s=90.0)
    play.turn("a", n=1)
    play.event(Left("a", "a/1", clean=False))
    before = play.match
    play.event(Outage(play.now_s, play.now_s + AWAY_S), AWAY_S)
    assert play.match is before


def test_who_was_missed_before_it_gains_nothing() -> None:
    """Though nobody had looked."""
    play = after_an_outage(Left("a", "a/1", clean=False), after_s=CLOCK_S)
    play.event(Overdue())
    assert play.verdict() == ("b", "disconnect", "network")


@pytest.mark.parametrize("bot", ["a", "b"])
@pytest.mark.parametrize("left_s", [2.0, 58.0])
@pytest.mark.parametrize("turn_s", [CLOCK_S, 40.0])
def test_who_leaves_in_it_has_as_long_as_if_it_had_left_at_its_end(bot: str, left_s: float, turn_s: float) -> None:
    """But at least the grace. That it left is noted when the server is back."""
    play = Play(turn_timeout_s=turn_s)
    play.event(Left(bot, f"{bot}/1", clean=False, at_s=START_S + left_s), AWAY_S)
    play.event(Outage(START_S, play.now_s))
    assert play.match.due_s == play.now_s + max(turn_s, GRACE_S)
    play.event(Outage(START_S, play.now_s))
    play.event(Joined(bot, f"{bot}/2"), 1.0)
    assert play.seat(bot).remaining_s == turn_s


def test_of_who_left_before_it_but_was_noticed_later_the_same_holds() -> None:
    """Its deadline is counted from when it was noticed: the outage is not added to it."""
    play = Play()
    play.event(Left("b", "b/1", clean=False, at_s=START_S - 0.5), AWAY_S)
    play.event(Outage(START_S, play.now_s))
    assert play.match.due_s == play.now_s + GRACE_S


def test_it_counts_for_those_whom_it_concerns() -> None:
    """The others could come in meanwhile."""
    play = Play()
    for bot in "ab":
        play.event(Orphaned(bot, f"{bot}/1"))
    play.event(Outage(START_S, START_S + 10.0, ("a",)), 10.0)
    assert [seat.back_by_s for seat in play.match.seats] == [START_S + 10.0 + GRACE_S, START_S + GRACE_S]
    play.event(Overdue(), GRACE_S - 10.0)
    assert play.verdict() == (None, "error", "server")


def test_a_clock_that_stands_anyway_is_not_charged() -> None:
    """The server had emptied the seat before."""
    play = after_an_outage(Orphaned("a", "a/1"), after_s=2.0)
    play.event(Joined("a", "a/2"), 1.0)
    assert play.seat("a").remaining_s == CLOCK_S


def test_who_is_given_a_deadline_after_it_gains_nothing() -> None:
    """Where the game goes on without it, it has one only once it is asked."""
    play = Play(GAMES["battlecube"])
    tasks = [{"task": "NOOP"}] * play.match.state["numOfTasksPerTick"]
    play.turn("b", tasks=tasks)
    play.event(Left("b", "b/1", clean=True))
    away = Outage(play.now_s, play.now_s + AWAY_S)
    play.event(Turned("a", {"tasks": tasks}, 0.5), AWAY_S + GRACE_S)
    play.event(away)
    assert play.seat("b").back_by_s == play.now_s + CLOCK_S


def test_who_leaves_after_it_gains_nothing() -> None:
    """And who sits in the match is not concerned: nothing is committed."""
    play = after_an_outage()
    assert play.match.revision == 0
    play.event(Left("b", "b/1", clean=True))
    before = play.match
    play.event(Outage(START_S, START_S + AWAY_S), 1.0)
    assert play.match is before


def test_it_counts_once() -> None:
    """Whoever tells of it, in parts or as a whole; a later one counts for itself."""
    left, orphaned = Left("a", "a/1", clean=False), Orphaned("b", "b/1")
    whole = after_an_outage(left, orphaned, after_s=1.0)
    parts = Play()
    for event in (left, orphaned):
        parts.event(event)
    began_s = START_S + 1.0
    for until_s in (20.0, 20.0, 45.0, AWAY_S, AWAY_S):
        parts.event(Outage(began_s, began_s + until_s), began_s + until_s - parts.now_s)
    assert parts.match.seats == whole.match.seats
    assert parts.match.revision == whole.match.revision + 2
    parts.event(Outage(parts.now_s + 10.0, parts.now_s + 20.0), 20.0)
    assert parts.match.due_s == parts.now_s + GRACE_S


def test_longer_time_that_was_left_stays_left() -> None:
    """Where the clock of a turn is longer than the grace."""
    play = after_an_outage(Left("b", "b/1", clean=True), after_s=10.0, turn_timeout_s=100.0)
    assert play.match.due_s == play.now_s + 90.0


def test_one_that_comes_back_and_leaves_again_does_not_spoil_the_others_grace() -> None:
    """It loses by its own leaving; the match is not void."""
    play = after_an_outage(Orphaned("a", "a/1"), Orphaned("b", "b/1"))
    play.event(Joined("a", "a/2"), 1.0)
    play.event(Left("a", "a/2", clean=True), 1.0)
    play.event(Overdue(), CLOCK_S - 0.1)
    assert play.match.verdict is None
    play.event(Overdue(), 0.1)
    assert play.verdict() == ("b", "disconnect", "bot")
