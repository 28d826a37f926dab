"""Stateless bots of a contest play in no more matches at a time than their address may be asked in, and miss none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import redis
from hall import Hall

from battlebot.arena.places import STATELESS
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.storage import Storage

URL = "http://127.0.0.1:9/"  # of all stateless bots in the hall
MOST = 2


@pytest.fixture
def hall(settings: Settings, storage: Storage, client: redis.Redis) -> Hall:
    """Returns a contest in motion, not yet begun, whose stateless bots may be asked in two matches at a time."""
    return Hall(replace(settings, bot_matches=MOST), storage, client)


def test_several_bots_of_one_address_share_its_places(hall: Hall) -> None:
    """Whatever waits, two matches at a time, without a reservation in vain; in the end everyone has met everyone."""
    hall.begin("abcdef", stateless="abcdef")
    reserve, wanted = hall.storage.ledger.reserve, list[int]()

    def counted(contest: Any, meetings: Any) -> Any:
        wanted.append(len(meetings))
        return reserve(contest, meetings)

    hall.storage.ledger.reserve = counted  # type: ignore[method-assign]
    played = 0
    while played < 15:
        playing = {seat.bot for match in hall.live() for seat in match.seats}
        waiting = {ticket.bot for ticket in hall.queues.tickets("numberwang/cup")}
        hall.wait("".join(sorted(set("abcdef") - playing - waiting)), STATELESS)
        live = hall.pair()
        assert len(live) == min(MOST, 15 - played)
        assert [state for state, _ in hall.meetings()].count("open") == len(live)
        hall.end(live[0])
        hall.archive()
        played += 1
    assert sum(wanted) == 15
    assert len({frozenset(bots) for _, bots in hall.meetings()}) == 15


def test_a_bot_without_a_place_keeps_nobody_from_playing_others(hall: Hall) -> None:
    """It is the first whom one of them would meet; they meet each other while its address is full, and then it."""
    hall.begin("abcd", stateless="a")
    hall.client.sadd(keys.asked_at(URL), *range(MOST))
    hall.wait("a", STATELESS)
    hall.wait("cd")
    (match,) = hall.pair()
    assert {seat.bot for seat in match.seats} == {"c", "d"}
    hall.end(match)
    hall.archive()
    hall.client.srem(keys.asked_at(URL), 0)
    hall.wait("d")
    (match,) = hall.pair()
    assert {seat.bot for seat in match.seats} == {"a", "d"}


def test_an_open_contest_goes_on_as_soon_as_an_address_has_a_place_again(hall: Hall) -> None:
    """Its bots may still meet: they were not paired in vain, but too early, and the same tickets wait on."""
    hall.begin("ab", stateless="a", format="open")
    hall.client.sadd(keys.asked_at(URL), *range(MOST))
    hall.wait("a", STATELESS)
    hall.wait("b")
    assert hall.pair() == []
    hall.client.srem(keys.asked_at(URL), 0)
    assert len(hall.pair()) == 1


def test_why_says_that_the_address_of_a_bot_is_full(hall: Hall) -> None:
    """It is there, but for others; with a place, it is only not there yet."""
    hall.begin("ab", stateless="a")
    hall.client.sadd(keys.asked_at(URL), *range(MOST))
    lookout = hall.lookout()
    assert lookout.why(hall.contest(), "a")["code"] == "address-full"
    assert lookout.why(hall.contest(), "b")["code"] == "not-connected"
    hall.client.srem(keys.asked_at(URL), 0)
    assert lookout.why(hall.contest(), "a")["code"] == "not-connected"


def test_a_meeting_for_which_another_match_took_the_place_is_released_and_begins_later(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was reserved when there was a place; nobody who waits has lost its ticket."""
    hall.begin("abc", stateless="a")
    hall.wait("a", STATELESS)
    hall.wait("b")
    reserve = hall.storage.ledger.reserve

    def late(*arguments: Any) -> Any:
        hall.client.sadd(keys.asked_at(URL), *range(MOST))
        return reserve(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(hall.storage.ledger, "reserve", late)
        assert hall.pair() == []
    assert hall.meetings() == []
    assert [ticket.bot for ticket in hall.queues.tickets("numberwang/cup")] == ["a", "b"]
    hall.client.delete(keys.asked_at(URL))
    assert len(hall.pair()) == 1


def test_a_bot_that_is_also_connected_plays_there_while_its_address_is_full(hall: Hall) -> None:
    """Only those who are asked at an address need a place there."""
    hall.begin("abc", stateless="a")
    hall.client.sadd(keys.asked_at(URL), *range(MOST))
    hall.wait("a", STATELESS)
    hall.wait("ab")
    (match,) = hall.pair()
    assert {(seat.bot, seat.address) for seat in match.seats} == {("a", None), ("b", None)}
