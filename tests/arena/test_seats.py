"""Whether a bot has a seat in a live match of a contest, by what Redis holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.seats import has_seat
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.referee.events import Failed, Left
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry

GAME = "numberwang"
Play = Callable[..., Match]


@pytest.fixture
def play(client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings) -> Play:
    """Begins a match of ada and bob in a contest; each has a place of its own in it."""

    def make(contest: str | None = "cup", number: int = 1) -> Match:
        name, seats = keys.queue_name(GAME, contest), [("ada", f"n1/{number}.1"), ("bob", f"n2/{number}.1")]
        for bot, place in seats:
            Queues(client).wait(name, Ticket(place, bot, 1000.0), BY_A_TASK, look_for_seats=False)
        match = new_match(registry[GAME], seats, settings, 1000.0, contest=contest)
        assert begin(store, registry[GAME], match, name)
        return match

    return make


def test_a_bot_has_one_before_anybody_notices_that_it_is_gone(store: MatchStore, play: Play) -> None:
    """Its connection may be broken, or its node dead, with the seat still taken."""
    play()
    assert has_seat(store, "ada", GAME, "cup")
    assert not has_seat(store, "cleo", GAME, "cup")


@pytest.mark.parametrize("contest", ["cap", None])
def test_one_of_another_contest_is_none(store: MatchStore, play: Play, contest: str | None) -> None:
    """Nor is that of a match outside contests."""
    play(contest)
    assert not has_seat(store, "ada", GAME, "cup")


def test_an_empty_one_counts_though_the_bot_has_begun_another_match(
    store: MatchStore, play: Play, registry: Registry
) -> None:
    """A bot may have several connections."""
    match = play()
    Conductor(registry, store, "n1").conduct(match, Left("ada", "n1/1.1", False))
    play(None, 2)
    assert has_seat(store, "ada", GAME, "cup")


def test_one_in_a_match_that_is_over_counts_no_more(store: MatchStore, play: Play, registry: Registry) -> None:
    """Though it awaits its archiving, as all do while MongoDB is away."""
    Conductor(registry, store, "n1").conduct(play(), Failed("a test"))
    assert not has_seat(store, "ada", GAME, "cup")
