"""Leases in a real Valkey: one worker asks in a match, a lost one is found, a wish is not forgotten."""

from __future__ import annotations

import pytest
import redis

from battlebot.arena.live import leases as module
from battlebot.arena.live.leases import Leases
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.scripts import Scripts


def test_one_at_a_time(client: redis.Redis) -> None:
    """The second is refused until the first gives it up, and is not forgotten; nor remembered for ever."""
    one, other = Leases(Scripts(client)), Leases(Scripts(client))
    lease = one.take("m")
    assert lease is not None
    assert other.take("m") is None
    assert one.take("m") is None
    assert client.pttl(keys.asked("bots:m")) > 0
    assert one.release(lease) is True, "somebody came meanwhile"
    again = other.take("m")
    assert again is not None
    assert other.release(again) is False
    assert [one._held, other._held] == [{}, {}], "what is released is renewed no more"


def test_a_lost_workers_matches_are_found(
    client: redis.Redis, store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its lease has run out; not while it is renewed."""
    monkeypatch.setattr(module, "LEASE_MS", 300)
    leases = Leases(Scripts(client))
    lease = leases.take("m")
    assert lease is not None
    assert store.unasked_ids(store.now_ms()) == []
    client.delete("bb:{0}:asking:m")
    client.zadd("bb:{0}:askingsince", {"m": 1})
    assert store.unasked_ids(store.now_ms()) == ["m"]
    leases.renew()
    assert lease.lost
    assert leases.release(lease) is False
    found = Leases(Scripts(client)).take("m")
    assert found is not None
    assert store.unasked_ids(store.now_ms()) == []
    leases.release(lease)
    assert client.get("bb:{0}:asking:m") == found.token.encode(), "another's lease"


def test_a_lost_workers_matches_are_found_though_the_clock_of_redis_was_set_back(
    client: redis.Redis, store: MatchStore
) -> None:
    """Its lease lasts no longer than another from when the match is asked for; else it would stand for a month."""
    month_ms = 30 * 86_400_000
    client.set(keys.asking("m"), "dead", px=month_ms)
    client.zadd(keys.ASKING, {"m": store.now_ms() + month_ms})
    assert store.unasked_ids(store.now_ms()) == ["m"]
    assert Leases(Scripts(client)).take("m") is None
    assert 0 < client.pttl(keys.asking("m")) <= module.LEASE_MS


def test_renewing_keeps_a_lease(client: redis.Redis) -> None:
    """For as long again."""
    leases = Leases(Scripts(client))
    lease = leases.take("m")
    assert lease is not None
    client.pexpire("bb:{0}:asking:m", 50)
    leases.renew()
    assert not lease.lost
    assert client.pttl("bb:{0}:asking:m") > 1000
