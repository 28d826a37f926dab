"""Rate, connections and the backoff of logins, with a clock of our own."""

from __future__ import annotations

import pytest
from clocks import Clock

from battlebot.errors import TooMany
from battlebot.transports.limits import ConnectionLimit, NewNames, Rate, ReloginBackoff


@pytest.fixture
def clock() -> Clock:
    """Standing."""
    return Clock(1000.0)


def taken(rate: Rate, tries: int = 1000) -> int:
    """How many of so many messages at one moment are within the limit."""
    return sum(rate.take() for _ in range(tries))


def test_twice_the_rate_is_allowed_at_once(clock: Clock) -> None:
    """And not one more."""
    assert taken(Rate(10, clock)) == 20


def test_after_a_pause_there_is_room_for_what_the_pause_was_worth(clock: Clock) -> None:
    """At most twice the rate, however long it was. Refused messages count too: the debt is paid first."""
    rate = Rate(10, clock)
    assert taken(rate, 20) == 20
    clock.now_s += 0.5
    assert taken(rate, 5) == 5
    clock.now_s += 3600
    assert taken(rate, 30) == 20


def test_an_update_gives_a_message_back(clock: Clock) -> None:
    """A bot that answers what it is sent is never too fast."""
    rate = Rate(1, clock)
    for _ in range(100):
        assert rate.take()
        rate.give_back()


def test_updates_are_not_saved_up_without_bound(clock: Clock) -> None:
    """What was given back and not used is worth no more than a burst, at the next message."""
    rate = Rate(10, clock)
    for _ in range(1000):
        rate.give_back()
    assert taken(rate) == 20


def test_a_key_has_so_many_connections_and_gets_them_back(clock: Clock) -> None:
    """Other keys have their own; what raises inside gives its place back too."""
    limit = ConnectionLimit(2, "bot")
    with limit.hold("a"), limit.hold("a"), limit.hold("b"):
        with pytest.raises(TooMany, match="bot"), limit.hold("a"):
            raise AssertionError("a third place")
        with limit.hold("b"):
            pass
    with pytest.raises(KeyError), limit.hold("a"):
        raise KeyError
    with limit.hold("a"), limit.hold("a"):
        pass
    assert not limit._held


def test_the_first_fruitless_connections_are_free(clock: Clock) -> None:
    """Then the delay doubles, up to the longest; it is never a refusal."""
    backoff = ReloginBackoff(3, 0.4, clock)
    delays = []
    for _ in range(9):
        delays.append(backoff.delay_s("a"))
        backoff.fruitless("a")
    assert delays == [0.0, 0.0, 0.0, 0.05, 0.1, 0.2, 0.4, 0.4, 0.4]
    assert backoff.delay_s("b") == 0.0


def test_very_many_fruitless_connections_wait_no_longer_than_the_longest(clock: Clock) -> None:
    """No power of two overflows."""
    backoff = ReloginBackoff(1, 2.0, clock)
    for _ in range(5000):
        backoff.fruitless("a")
    assert backoff.delay_s("a") == 2.0


def test_a_match_or_a_pause_forgives(clock: Clock) -> None:
    """Ten seconds without a try, or a match that was played."""
    backoff = ReloginBackoff(1, 2.0, clock)
    for forgive in (lambda: backoff.played("a"), lambda: setattr(clock, "now_s", clock.now_s + 10.1)):
        backoff.fruitless("a")
        backoff.fruitless("a")
        assert backoff.delay_s("a") > 0
        forgive()
        assert backoff.delay_s("a") == 0.0
        backoff.fruitless("a")
        assert backoff.delay_s("a") == ReloginBackoff.STEP_S
        backoff.played("a")


def test_no_more_peers_than_a_bound_are_remembered(clock: Clock) -> None:
    """The longest silent is forgotten first."""
    backoff = ReloginBackoff(1, 2.0, clock)
    for number in range(ReloginBackoff.REMEMBERED + 5):
        backoff.fruitless(str(number))
    assert len(backoff._fruitless) == ReloginBackoff.REMEMBERED
    assert "0" not in backoff._fruitless


def test_an_address_may_say_so_many_new_names_an_hour(clock: Clock) -> None:
    """Names that were said before, by whomever, do not count; another address has its own hour."""
    names = NewNames(2, clock)
    for name in ("ada", "bob", "ada", "bob"):
        names.say(name, "192.0.2.1")
    with pytest.raises(TooMany):
        names.say("eve", "192.0.2.1")
    names.say("ada", "192.0.2.1")
    names.say("eve", "192.0.2.2")
    names.say("eve", "192.0.2.1")
    clock.now_s += 3600
    names.say("fay", "192.0.2.1")
