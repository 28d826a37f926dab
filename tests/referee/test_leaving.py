"""Connections that go and come: a bot's own leaving, a node's death, taking over, and everybody gone."""

from __future__ import annotations

import pytest
from matches import START_S, Play
from msgspec.structs import replace

from battlebot.referee.events import NODE_DEAD, Joined, Left, Orphaned, Overdue


@pytest.mark.parametrize(("clean", "fault"), [(True, "bot"), (False, "network")])
@pytest.mark.parametrize(("leaver", "other"), [("a", "b"), ("b", "a")])
def test_who_leaves_and_stays_away_loses(leaver: str, other: str, clean: bool, fault: str) -> None:
    """On turn or not; saying goodbye is the bot's fault, a broken line the network's."""
    play = Play()
    play.event(Left(leaver, f"{leaver}/1", clean))
    assert play.match.verdict is None
    assert play.last.updates == ()
    assert play.match.due_s == START_S + 3.0
    play.event(Overdue(), 3.0)
    assert play.verdict() == (other, "disconnect", fault)
    assert all("turn" not in message for _, message in play.messages())


def test_the_times_of_an_absence_prove_the_verdict() -> None:
    """Of all who are gone; who emptied a seat is said of those alone whose time is over."""
    play = Play()
    play.event(Left("b", "b/1", clean=True, how="closed"), 0.5)
    play.event(Left("a", "a/1", clean=False, thinking_s=0.25), 2.0)
    play.event(Overdue(), 1.25)
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {
        "absent": ["a", "b"],
        "emptiedBy": {"b": "bot"},
        "how": {"a": None, "b": "closed"},
        "awayMs": {"a": 1250, "b": 3250},
        "allowedMs": {"a": 2750, "b": 3000},
    }


def test_what_the_server_took_to_learn_of_it_is_not_taken_from_the_bot() -> None:
    """It has its whole time from there on; the evidence counts from when the connection ended."""
    play = Play()
    play.event(Left("b", "b/1", clean=False, at_s=START_S), 0.25)
    assert play.match.due_s == START_S + 3.25
    play.event(Overdue(), 3.0)
    assert play.match.verdict is not None
    evidence = play.match.verdict.evidence
    assert (evidence["allowedMs"], evidence["awayMs"]) == ({"b": 3250}, {"b": 3250})


def test_on_turn_there_is_only_the_rest_of_the_clock_to_come_back() -> None:
    """The bot's own turn clock goes on."""
    play = Play()
    play.event(Left("a", "a/1", clean=True, thinking_s=2.0), 2.0)
    assert play.match.due_s == START_S + 3.0
    play.event(Overdue(), 0.99)
    assert play.match.verdict is None
    play.event(Overdue(), 0.01)
    assert play.verdict() == ("b", "disconnect", "bot")


@pytest.mark.parametrize("bot", ["a", "b"])
def test_who_is_elsewhere_has_left_though_the_server_emptied_its_seat(bot: str) -> None:
    """It could have come back in its grace; the evidence says so."""
    play = Play()
    play.event(Orphaned(bot, f"{bot}/1", "restart"))
    play.event(Overdue((bot,)), 14.9)
    assert play.match.verdict is None
    play.event(Overdue((bot,)), 0.1)
    assert play.verdict() == ("b" if bot == "a" else "a", "disconnect", "bot")
    assert play.match.verdict is not None
    evidence = play.match.verdict.evidence
    assert (evidence["elsewhere"], evidence["emptiedBy"], evidence["how"]) == ([bot], {bot: "server"}, {bot: "restart"})


@pytest.mark.parametrize(
    ("elsewhere", "verdict"),
    [
        ((), (None, "error", "server")),
        (("a",), (None, "error", "server")),
        (("a", "b"), (None, "disconnect", "bot")),
    ],
)
def test_of_two_whose_seats_the_server_emptied_both_must_be_elsewhere(
    elsewhere: tuple[str, ...], verdict: tuple[None, str, str]
) -> None:
    """Else the match is void; nobody wins by outlasting a bot of whose absence it knows nothing."""
    play = Play()
    for bot in "ab":
        play.event(Orphaned(bot, f"{bot}/1"))
    play.event(Overdue(elsewhere), 15.0)
    assert play.verdict() == verdict


def test_who_left_by_itself_is_judged_by_that_wherever_it_is() -> None:
    """And that it was elsewhere is no evidence."""
    play = Play()
    play.event(Left("a", "a/1", clean=False))
    play.event(Overdue(("a",)), 3.0)
    assert play.verdict() == ("b", "disconnect", "network")
    assert play.match.verdict is not None
    assert "elsewhere" not in play.match.verdict.evidence


def test_off_turn_there_is_the_games_turn_timeout_to_come_back() -> None:
    """Also when the opponent moves meanwhile."""
    play = Play()
    play.event(Left("b", "b/1", clean=False))
    play.turn("a", 1.0, n=1)
    assert play.match.due_s == START_S + 3.0
    play.event(Overdue(), 2.0)
    assert play.verdict() == ("a", "disconnect", "network")


def test_a_clock_that_an_invalid_turn_shortened_shortens_no_absence_off_turn() -> None:
    """The next question brings a whole clock."""
    play = Play()
    play.turn("a", 2.0, n="none")
    play.turn("a", n=1)
    play.event(Left("a", "a/1", clean=False))
    assert play.match.due_s == play.now_s + 3.0


def test_a_seat_given_to_who_finds_it_empty_is_taken_from_nobody() -> None:
    """Two connections of the bot may both have found it so."""
    play = Play()
    play.event(Left("a", "a/1", clean=False))
    play.event(Joined("a", "a/2", if_empty=True))
    before = play.match
    assert play.event(Joined("a", "a/3", if_empty=True)).updates == ()
    assert play.match is before
    assert play.seat("a").place == "a/2"


def test_who_comes_back_gets_the_current_state_and_the_match_goes_on() -> None:
    """Only that bot is told; the seat is no longer due."""
    play = Play()
    play.event(Left("b", "b/1", clean=False))
    play.turn("a", 1.0, n=4)
    play.event(Joined("b", "b/2"), 1.0)
    ((bot, message),) = play.messages()
    assert bot == "b"
    assert message["state"] == play.match.state
    assert "turn" not in message
    assert play.last.updates[0].asks
    assert (play.seat("b").place, play.seat("b").back_by_s) == ("b/2", None)
    play.event(Overdue(), 1.5)
    assert play.match.verdict is None
    play.turn("b", 0.1, n=1)
    assert play.match.version == 2


def test_a_bot_may_come_back_to_its_last_instant() -> None:
    """The opponent may take longer than that; its own clock has not begun."""
    play = Play()
    play.event(Left("b", "b/1", clean=True))
    play.event(Joined("b", "b/2"), 3.0)
    assert play.match.verdict is None
    assert play.seat("b").remaining_s == 3.0


def test_taking_over_an_occupied_seat() -> None:
    """The old connection's leaving, which comes later, concerns nobody any more."""
    play = Play()
    play.event(Joined("a", "a/2"), 0.5)
    assert [bot for bot, _ in play.messages()] == ["a"]
    assert play.seat("a").place == "a/2"
    before = play.match
    for late in (Left("a", "a/1", clean=True, thinking_s=9.0), Orphaned("a", "a/1")):
        assert play.event(late, 0.1).updates == ()
        assert play.match is before


@pytest.mark.parametrize("late", [Left("c", "c/1", True), Orphaned("c", "c/1"), Joined("c", "c/1")], ids=repr)
def test_strangers_neither_come_nor_go(late: Left) -> None:
    """Nothing changes, nobody is told."""
    play = Play()
    before = play.match
    assert play.event(late).updates == ()
    assert play.match is before


def test_leaving_twice_is_leaving_once() -> None:
    """The second is told by somebody who did not know."""
    play = Play()
    play.event(Left("b", "b/1", clean=False))
    due_s = play.match.due_s
    play.event(Left("b", "b/1", clean=True), 1.0)
    play.event(Orphaned("b", "b/1"), 1.0)
    assert play.match.due_s == due_s


@pytest.mark.parametrize("first_late", ["a", "b"])
@pytest.mark.parametrize("apart_s", [0.0, 0.5, 1.0])
def test_both_gone_is_a_draw(first_late: str, apart_s: float) -> None:
    """At about the same time: within a second."""
    play = Play()
    second = "b" if first_late == "a" else "a"
    play.event(Left(first_late, f"{first_late}/1", clean=True))
    play.event(Left(second, f"{second}/1", clean=False), apart_s)
    play.event(Overdue(), 3.0 - apart_s)
    assert play.verdict() == (None, "disconnect", "bot")
    assert play.match.verdict is not None
    assert not play.match.verdict.void


@pytest.mark.parametrize("first", ["a", "b"])
@pytest.mark.parametrize("looked_at_s", [3.0, 9.0])
def test_who_leaves_long_after_the_other_has_won(first: str, looked_at_s: float) -> None:
    """Its connection broke just before the other was missed for good; also where nobody looked until both were."""
    play = Play()
    second = "b" if first == "a" else "a"
    play.event(Left(first, f"{first}/1", clean=True))
    play.event(Left(second, f"{second}/1", clean=False), 2.5)
    play.event(Overdue(), looked_at_s - 2.5)
    assert play.verdict() == (second, "disconnect", "bot")


@pytest.mark.parametrize(("later_s", "victor"), [(0.9, None), (1.5, "b"), (2.4, "b")])
def test_who_leaves_as_its_time_ends_gains_nothing_by_it(later_s: float, victor: str | None) -> None:
    """It would have lost by time-out: it loses as well if its opponent, who may still come back, left long before."""
    play = Play()
    play.event(Left("b", "b/1", clean=True))
    play.event(Left("a", "a/1", clean=True, thinking_s=2.5), later_s)
    play.event(Overdue(), 0.5)
    assert play.verdict() == (victor, "disconnect", "bot")


def test_one_of_two_who_comes_back_wins() -> None:
    """Against the one who did not."""
    play = Play()
    play.event(Left("a", "a/1", clean=True))
    play.event(Left("b", "b/1", clean=True))
    play.event(Joined("b", "b/2"), 1.0)
    play.event(Overdue(), 2.0)
    assert play.verdict() == ("b", "disconnect", "bot")


@pytest.mark.parametrize("bot", ["a", "b"])
def test_a_dead_nodes_bot_has_its_grace_with_its_clock_stopped(bot: str) -> None:
    """Fifteen seconds, and then all of its own time."""
    play = Play()
    play.event(Orphaned(bot, f"{bot}/1"), 1.0)
    assert play.match.due_s == START_S + 16.0
    play.event(Overdue(), 14.0)
    assert play.match.verdict is None
    play.event(Joined(bot, f"{bot}/2"), 0.5)
    assert play.seat(bot).remaining_s == 3.0
    play.turn("a", 2.9, n=1)
    assert play.match.version == 1


def test_strikes_time_stays_charged_over_a_dead_node() -> None:
    """Stopped, not set back."""
    play = Play()
    play.turn("a", 1.0, n="x")
    play.event(Orphaned("a", "a/1"), 1.0)
    play.event(Joined("a", "a/2"), 9.0)
    assert play.seat("a").remaining_s == pytest.approx(2.0)
    play.event(Joined("a", "a/3"), 0.5)
    assert play.seat("a").remaining_s == pytest.approx(1.5)


def test_who_is_asked_while_its_node_is_dead_has_a_full_clock() -> None:
    """It could not know that it was asked."""
    play = Play()
    play.event(Orphaned("b", "b/1"))
    play.turn("a", 1.0, n=1)
    play.event(Joined("b", "b/2"), 13.0)
    assert play.seat("b").remaining_s == 3.0


@pytest.mark.parametrize("lost", [["a"], ["b"], ["a", "b"]], ids=repr)
def test_a_dead_nodes_bot_that_does_not_come_back_makes_the_match_void(lost: list[str]) -> None:
    """A draw by the server's fault: no one's loss."""
    play = Play()
    for bot in lost:
        play.event(Orphaned(bot, f"{bot}/1"))
    play.event(Overdue(), 14.9)
    assert play.match.verdict is None
    play.event(Overdue(), 0.1)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.void


def test_leaving_while_the_opponents_node_is_dead_wins_nothing() -> None:
    """The one who left by itself is missed first, and loses."""
    play = Play()
    play.event(Orphaned("b", "b/1"))
    play.event(Left("a", "a/1", clean=True), 1.0)
    play.event(Overdue(), 3.0)
    assert play.verdict() == ("b", "disconnect", "bot")


def test_a_turn_ends_nobodys_absence() -> None:
    """An empty seat is filled by joining it only."""
    play = Play()
    play.event(Left("b", "b/1", clean=True))
    play.turn("a", 0.5, n=1)
    assert play.seat("b").place is None


def test_a_bot_that_is_back_sits_as_before() -> None:
    """Of its absence nothing is left."""
    play = Play()
    seat = play.seat("b")
    play.event(Orphaned("b", "b/1", "restart"))
    assert (play.seat("b").place, play.seat("b").left_place, play.seat("b").how) == (None, "b/1", "restart")
    play.event(Joined("b", "b/2"), 1.0)
    assert play.seat("b") == replace(seat, place="b/2")


def test_a_match_is_wary_from_the_death_of_a_node_to_the_next_turn() -> None:
    """A node that the operator stops has not died of what it was sent."""
    play = Play()
    play.event(Orphaned("a", "a/1", "restart"))
    assert not play.match.wary
    play.event(Orphaned("b", "b/1", NODE_DEAD))
    assert play.match.wary
    play.turn("a", n="x")
    assert play.match.wary
    play.turn("a", n=1)
    assert not play.match.wary
