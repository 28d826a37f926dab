"""What the record says of each turn's time: the bot's share and the server's, which make up all of it."""

from __future__ import annotations

import pytest
from matches import Play, a_simultaneous_game

from battlebot.referee.events import Joined, Left, Orphaned, Turned


def times(play: Play) -> list[tuple[float, float]]:
    """(thinkingMs, serverMs) of each recorded turn."""
    return [(row["thinkingMs"], row["serverMs"]) for row in play.recorded]


def sent(play: Play, bot: str, thinking_s: float, waited_s: float, **turn: object) -> None:
    """A bot's turn of which the server took notice `waited_s` after its bytes had arrived."""
    play.event(Turned(bot, turn, thinking_s, received_s=play.now_s + thinking_s), thinking_s + waited_s)


def test_what_the_bot_did_not_use_is_the_servers_share() -> None:
    """The update came half a second after the match's beginning; the bot thought for a quarter."""
    play = Play()
    play.now_s += 0.5
    sent(play, "a", 0.25, 0.0, n=1)
    assert times(play) == [(250.0, 500.0)]


def test_the_time_that_a_turn_waits_at_the_server_counts_in_the_next_ones_share() -> None:
    """From the bytes' arrival, not from the moment at which the server took notice."""
    play = Play()
    sent(play, "a", 0.25, 2.0, n=1)
    play.now_s += 0.125
    sent(play, "b", 0.5, 0.0, n=1)
    assert times(play) == [(250.0, 0.0), (500.0, 2125.0)]


def test_the_shares_of_all_turns_make_up_the_time_to_the_last_ones_arrival() -> None:
    """Nothing is counted twice, nothing is left out."""
    play = Play()
    began_s = play.now_s
    for index in range(10):
        play.now_s += 0.25 * index
        arrived_s = play.now_s + 0.5
        sent(play, "ab"[index % 2], 0.5, 0.125, n=0)
    assert sum(sum(row) for row in times(play)) == pytest.approx((arrived_s - began_s) * 1000)


def test_invalid_turns_and_absences_are_in_the_bots_share() -> None:
    """All that was charged to its clock for this turn."""
    play = Play()
    play.turn("a", 0.5, n="x")
    play.event(Left("a", "a/1", clean=False, thinking_s=0.25), 0.25)
    play.event(Joined("a", "a/2"), 0.5)
    play.turn("a", 0.125, n=1)
    assert times(play) == [(1375.0, 0.0)]


def test_time_lost_with_a_node_is_the_servers() -> None:
    """The clock stood from the moment of the question on."""
    play = Play()
    play.event(Orphaned("a", "a/1"), 2.0)
    play.event(Joined("a", "a/2"), 5.0)
    play.turn("a", 0.5, n=1)
    assert times(play) == [(500.0, 7000.0)]


def test_a_clock_of_another_machine_that_is_behind_gives_no_negative_time() -> None:
    """The next turn arrived, by its own node's clock, before the last one did."""
    play = Play()
    play.turn("a", 0.5, n=1)
    play.event(Turned("b", {"n": 1}, 0.0, received_s=play.now_s - 3.0))
    assert times(play)[1] == (0.0, 0.0)


def test_who_is_asked_together_is_counted_from_the_same_moment() -> None:
    """In a simultaneous game nobody's thinking is the server's share of another."""
    play = Play(a_simultaneous_game(), ("a", "b", "c"))
    play.event(Turned("c", {"n": 1}, 0.5), 0.5)
    play.event(Turned("a", {"n": 1}, 1.0), 0.5)
    play.event(Turned("b", {"n": 1}, 1.25), 0.5)
    assert times(play) == [(500.0, 0.0), (1000.0, 0.0), (1250.0, 250.0)]
