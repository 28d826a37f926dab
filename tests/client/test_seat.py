"""Whether an update asks for a turn: the table of cases, without a connection."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_server import final, update

from battlebot.client.seat import Action, Seat, Update


@pytest.mark.parametrize(
    ("message", "awaits"),
    [
        (update(0), True),
        (update(0, "You"), False),
        (update(0, None, waitingFor=["You", "Me"]), True),
        (update(0, None, waitingFor=["You"]), False),
        (update(0, None, waitingFor=None), False),
        (update(9, "Me", complete=True, victor=None), False),
    ],
)
def test_a_bot_is_awaited_by_name_while_the_match_goes_on(message: dict[str, Any], awaits: bool) -> None:
    """As next player, or among those that all wait for; never after the end."""
    assert Update.of(message).awaits("Me") is awaits
    assert Seat("Me", "m1").take(Update.of(message), first=True) is (Action.CHOOSE if awaits else Action.WAIT)


@pytest.mark.parametrize(
    ("then", "first", "action"),
    [
        (update(5), True, Action.RESEND),
        (update(5), False, Action.RESEND),
        (update(6), True, Action.CHOOSE),
        (update(6), False, Action.CHOOSE),
        (update(6, turn={"n": 1, "player": "You"}), False, Action.CHOOSE),
        (update(6, None, waitingFor=["Me"], turn={"n": 1, "player": "You"}), False, Action.WAIT),
        (update(6, None, waitingFor=["Me"]), False, Action.RESEND),
        (update(6, None, waitingFor=["Me"]), True, Action.CHOOSE),
        (update(5, strikes=1), False, Action.CHOOSE),
        (update(5, strikes=1), True, Action.CHOOSE),
        (update(5, strikes=1, turn={"n": 1, "version": 5, "valid": False}), False, Action.CHOOSE),
        (update(5, strikes=1, turn={"time": 1, "valid": False}), False, Action.CHOOSE),
        (update(6, turn={"n": 1, "version": 5, "valid": False}), False, Action.CHOOSE),
        (update(7, turn={"n": 1, "version": 5}), False, Action.CHOOSE),
        (update(5, turn={"n": 1, "version": 3}), False, Action.WAIT),
        (update(5, turn={"n": 1, "version": 5, "match": "m0", "valid": False}), False, Action.WAIT),
        (update(5, turn={"n": 1, "version": 5, "player": "You"}), False, Action.WAIT),
        (update(6, "You"), True, Action.WAIT),
        (final(6), False, Action.WAIT),
    ],
)
def test_what_an_update_asks_for_while_a_turn_is_under_way(then: dict[str, Any], first: bool, action: Action) -> None:
    """The turn under way answers version 5 without strikes."""
    seat = Seat("Me", "m1")
    seat.take(Update.of(update(5)), first=True)
    seat.sent({"n": 1, "version": 5})
    assert seat.take(Update.of(then), first=first) is action


def test_without_versions_nothing_is_sent_again() -> None:
    """A server that tells no version applies the same turn twice."""
    plain = Update.of({"state": update(0)["state"]})
    seat = Seat("Me", "")
    seat.take(plain, first=True)
    seat.sent({"n": 1})
    assert seat.take(plain, first=False) is Action.WAIT
    assert seat.take(plain, first=True) is Action.CHOOSE


def test_who_is_back_and_not_asked_has_no_turn_under_way() -> None:
    """Its turn had arrived: it answers the next round, which another bot's turn began."""
    seat = Seat("Me", "m1")
    seat.take(Update.of(update(5, None, waitingFor=["Me", "You"])), first=True)
    seat.sent({"n": 1, "version": 5})
    assert seat.take(Update.of(update(6, None, waitingFor=["You"])), first=True) is Action.WAIT
    next_round = update(7, None, waitingFor=["Me", "You"], turn={"n": 1, "player": "You"})
    assert seat.take(Update.of(next_round), first=False) is Action.CHOOSE
