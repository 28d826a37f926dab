"""Whether a bot has a seat in a live match of a contest, by what Redis holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from conductors import Conductor

from battlebot.arena.live import seats
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, NO_SEATS, Queues, Ticket
from battlebot.arena.live.seats import Seating, Sitter, has_seat, seatings
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
            Queues(client).wait(name, Ticket(place, bot, 1000.0), BY_A_TASK, NO_SEATS)
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


def test_one_is_found_beside_a_match_that_cannot_be_read(
    store: MatchStore, play: Play, registry: Registry, client: redis.Redis
) -> None:
    """Another version of the server has written the bot's newest."""
    Conductor(registry, store, "n1").conduct(play(), Left("ada", "n1/1.1", False))
    client.hset(keys.match(play(None, 2).id), "doc", b'{"id": "m"}')
    assert has_seat(store, "ada", GAME, "cup")


def test_who_sits_in_many_matches_is_read_a_few_at_a_time(
    store: MatchStore, play: Play, registry: Registry, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are gone, or cannot be read, are left out; one that is over says so."""
    monkeypatch.setattr(seats, "TOGETHER", 2)
    ids = [play(None, number).id for number in range(5)]
    Conductor(registry, store).conduct(store.load(ids[0]), Left("ada", "n1/0.1", False))
    over = Conductor(registry, store).conduct(store.load(ids[1]), Failed("a test")).match.id
    client.hset(keys.match(ids[2]), "doc", b'{"id": "m"}')
    client.delete(keys.match(ids[3]))
    found = seatings(store, ids)
    assert found.keys() == {ids[0], over, ids[4]}
    assert found[ids[0]] == Seating(GAME, None, (Sitter("ada", None), Sitter("bob", "n2/0.1")))
    assert found[ids[0]].nodes == {"n2"}
    assert [match_id for match_id in found if found[match_id].is_over] == [over]
