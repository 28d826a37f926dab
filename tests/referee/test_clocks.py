"""A bot's time: what is charged to it, what is not, and that neither strikes nor a second connection win any."""

from __future__ import annotations

import pytest
from matches import Play

from battlebot.referee.events import Joined, Left, TimedOut


def test_at_the_beginning_the_clock_runs_for_who_is_asked() -> None:
    """And for nobody else."""
    play = Play()
    assert [(seat.asked_s, seat.since_s) for seat in play.match.seats] == [(play.now_s, play.now_s), (None, None)]


def test_an_invalid_turn_does_not_restart_the_clock() -> None:
    """Protocol page: what is left after it is what is told and what holds."""
    play = Play()
    play.turn("a", 1.0, n="x")
    assert play.messages()[0][1]["match"]["remainingMs"] == 2000
    assert play.last.updates[0].asks
    play.garbage("a", 1.5)
    assert play.seat("a").remaining_s == pytest.approx(0.5)
    play.turn("a", 0.6, n=1)
    assert play.verdict() == ("b", "timeout", "bot")


def test_a_valid_turn_does() -> None:
    """The next question comes with a full clock."""
    play = Play()
    play.turn("a", 1.0, n="x")
    play.turn("a", 1.9, n=0)
    play.turn("b", 2.9, n=0)
    assert (play.seat("a").remaining_s, play.seat("a").strikes) == (3.0, 1)


def test_a_turn_out_of_turn_costs_no_time() -> None:
    """The bot's clock does not run then."""
    play = Play()
    play.turn("b", 2.5, n=0)
    play.turn("a", 0.1, n=0)
    assert play.seat("b").remaining_s == 3.0


def test_time_between_turns_is_nobodys() -> None:
    """However long ago the bot was told something: out of turn there is no time-out, but a strike."""
    play = Play()
    play.turn("b", 99.0, n=0)
    assert play.match.verdict is None
    assert (play.seat("b").strikes, play.seat("b").remaining_s) == (1, 3.0)


@pytest.mark.parametrize("turn", [{"n": 1}, {"n": "x"}, {"n": 99, "version": 0}], ids=repr)
def test_a_turn_that_comes_too_late_is_none(turn: dict[str, object]) -> None:
    """Not even a winning one; the final update has no turn."""
    play = Play()
    play.turn("a", 3.01, **turn)
    assert play.verdict() == ("b", "timeout", "bot")
    assert play.recorded == []
    assert all("turn" not in message for _, message in play.messages())
    assert play.match.verdict is not None
    times = {"thinkingMs": 3010, "leftMs": 3000, "limitMs": 3000}
    assert play.match.verdict.evidence == {"bot": "a", "version": 0, **times}


def test_a_time_out_says_whether_the_bot_had_read_its_question() -> None:
    """If not, it did not read what was sent before either."""
    play = Play()
    play.event(TimedOut("a", 0, 3.0, unread=True), 3.0)
    assert play.match.verdict is not None
    assert play.match.verdict.evidence["unread"] is True


def test_garbage_that_comes_too_late_is_a_timeout_too() -> None:
    """Three strikes are not left."""
    play = Play()
    play.garbage("a", 3.5)
    assert play.verdict() == ("b", "timeout", "bot")


def test_the_clock_that_runs_out_ends_the_match() -> None:
    """The original's reason."""
    play = Play()
    play.turn("a", n=1)
    play.event(TimedOut("b", 1, 3.0), 3.0)
    assert play.verdict() == ("a", "timeout", "bot")


@pytest.mark.parametrize("late", ["no turn", "a turn"])
@pytest.mark.parametrize("strike_s", [0.0, 1.0])
def test_who_is_out_of_time_is_told_so(late: str, strike_s: float) -> None:
    """No time is left to the loser; the evidence has what it had left when it was asked, or asked again."""
    play = Play()
    if strike_s:
        play.turn("a", strike_s, n="x")
    left_s = 3.0 - strike_s
    if late == "a turn":
        play.turn("a", left_s + 0.1, n=1)
    else:
        play.event(TimedOut("a", 0, left_s + 0.1), left_s + 0.1)
    assert play.verdict() == ("b", "timeout", "bot")
    assert [message["match"]["remainingMs"] for _, message in play.messages()] == [0, 3000]
    assert play.match.verdict is not None
    assert play.match.verdict.evidence["leftMs"] == left_s * 1000


@pytest.mark.parametrize(
    "event",
    [
        TimedOut("b", 1, 2.99),
        TimedOut("b", 0, 3.5),
        TimedOut("b", 2, 3.5),
        TimedOut("a", 1, 3.5),
        TimedOut("c", 1, 9.0),
    ],
    ids=["too early", "an old question", "a question not put", "not asked", "a stranger"],
)
def test_a_clock_that_has_not_run_out_changes_nothing(event: TimedOut) -> None:
    """The answer may have been committed by another node a moment before."""
    play = Play()
    play.turn("a", n=1)
    before = play.match
    assert play.event(event, 3.0).updates == ()
    assert play.match is before


def test_an_empty_seat_has_no_clock_but_a_time_to_be_back() -> None:
    """The connection that was asked is gone; its leaving has been charged already."""
    play = Play()
    play.event(Left("a", "a/1", clean=False, thinking_s=1.0), 1.0)
    before = play.match
    play.event(TimedOut("a", 0, 3.0), 2.0)
    assert play.match is before


def test_leaving_on_turn_does_not_stop_the_clock() -> None:
    """Thinking, being away, and thinking again are one time."""
    play = Play()
    play.event(Left("a", "a/1", clean=False, thinking_s=1.0), 1.0)
    play.event(Joined("a", "a/2"), 1.25)
    assert play.messages()[0][1]["match"]["remainingMs"] == 750
    play.turn("a", 0.74, n=1)
    assert play.match.version == 1


def test_leaving_and_coming_back_again_and_again_wins_no_time() -> None:
    """The sum is what counts."""
    play = Play()
    for number in range(1, 4):
        play.event(Left("a", f"a/{number}", clean=True, thinking_s=0.25), 0.25)
        play.event(Joined("a", f"a/{number + 1}"), 0.25)
    assert play.seat("a").remaining_s == pytest.approx(1.5)


def test_a_bot_away_when_it_is_asked_has_the_rest_of_that_turns_clock() -> None:
    """Its time runs from the opponent's turn, not from its leaving: it was back before its time to be back."""
    play = Play()
    play.event(Left("b", "b/1", clean=False))
    play.turn("a", 2.75, n=1)
    play.event(Joined("b", "b/2"), 0.125)
    assert play.seat("b").remaining_s == pytest.approx(3.0 - 0.125)


@pytest.mark.parametrize("strike_first", [False, True])
def test_a_second_connection_wins_no_time(strike_first: bool) -> None:
    """A bot that takes its own seat over while it is asked goes on with the clock it had."""
    play = Play()
    if strike_first:
        play.turn("a", 0.5, n="x")
    else:
        play.now_s += 0.5
    for number in range(2, 6):
        play.event(Joined("a", f"a/{number}"), 0.5)
    assert play.seat("a").remaining_s == pytest.approx(0.5)
    play.event(Joined("a", "a/6"), 9.0)
    assert play.seat("a").remaining_s == 0.0
    play.event(TimedOut("a", 0, 0.05))
    assert play.verdict() == ("b", "timeout", "bot")


def test_what_a_dead_connection_is_not_known_to_have_had_is_not_charged() -> None:
    """Its node's last sign of life bounds it; what is not charged once is charged if it turns out to have lived."""
    play = Play()
    start_s = play.now_s
    play.event(Joined("a", "a/2", until_s=start_s - 0.5), 2.0)
    assert play.seat("a").remaining_s == 3.0
    play.event(Joined("a", "a/3", until_s=start_s + 2.5), 1.0)
    assert play.seat("a").remaining_s == pytest.approx(0.5)


def test_what_the_server_took_to_let_a_bot_in_is_not_charged() -> None:
    """It was back after half a second; two more passed until it got its seat."""
    play = Play()
    play.event(Left("a", "a/1", clean=False, thinking_s=1.0), 1.0)
    play.event(Joined("a", "a/2", until_s=play.now_s + 0.5), 2.5)
    assert play.seat("a").remaining_s == pytest.approx(1.5)


def test_who_was_back_before_it_was_known_to_be_gone_is_charged_nothing_more() -> None:
    """Redis was slow to take notice of its leaving."""
    play = Play()
    play.event(Left("a", "a/1", clean=False, thinking_s=1.0), 2.0)
    play.event(Joined("a", "a/2", until_s=play.now_s - 0.75), 0.5)
    assert play.seat("a").remaining_s == pytest.approx(2.0)


def test_a_connection_at_hand_says_how_long_its_bot_has_thought() -> None:
    """The question was told late: what passed since it was put is not the bot's."""
    play = Play()
    play.event(Joined("a", "a/2", thinking_s=0.25), 2.5)
    assert play.seat("a").remaining_s == pytest.approx(2.75)
    play.event(Joined("a", "a/3", thinking_s=0.0), 2.5)
    assert play.seat("a").remaining_s == pytest.approx(2.75)


def test_taking_over_off_turn_costs_nothing() -> None:
    """No clock runs."""
    play = Play()
    play.event(Joined("b", "b/2"), 2.5)
    assert play.seat("b").remaining_s == 3.0
    play.turn("a", 0.1, n=1)
    play.event(Joined("b", "b/3"), 1.0)
    assert play.seat("b").remaining_s == pytest.approx(2.0)
