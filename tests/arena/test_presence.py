"""Names at the door that needs no registration: which of them nobody else may register."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import orjson
import pytest
import redis
from cluster import LIMIT_S, wait_for

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.names.presence import Holder, Presence
from battlebot.redisio import keys
from battlebot.runtime import cooperative

TIMEOUT_S = 5.0


def test_a_name_is_in_use_by_who_is_online_without_a_password(client: redis.Redis) -> None:
    """At a node that lives; a registered bot's name is its own anyway."""
    presence, now_s = Presence(client), time.time()
    Heartbeats(client).send("n", now_s, first=True)
    presence.claim(Holder("ada", "n/1", 1, True))
    presence.claim(Holder("bob", "n/2", 1, False))
    presence.claim(Holder("cat", "dead/1", 1, True))
    assert presence.used_names(TIMEOUT_S, "dan") == {"ada"}


def test_a_name_is_in_use_as_long_as_a_match_waits_for_its_player(client: redis.Redis) -> None:
    """It may be back in a moment, and anybody else's registration would keep it out."""
    presence = Presence(client)
    client.sadd(keys.playing("ada"), "over", "live")
    assert presence.used_names(TIMEOUT_S, "ada") == set()
    client.zadd(keys.DEADLINES, {"live": 1.0})
    assert presence.used_names(TIMEOUT_S, "ada") == {"ada"}
    assert presence.used_names(TIMEOUT_S, "bob") == set()


def test_what_a_later_version_writes_of_a_holder_is_left_out(client: redis.Redis) -> None:
    """Two versions run beside each other during an upgrade; a node of the later one may have the name."""
    now_s = time.time()
    Heartbeats(client).send("n", now_s, first=True)
    ada = Holder("ada", "n/1", 1, True)
    client.hset(keys.ONLINE, "ada", orjson.dumps({**orjson.loads(ada.encode()), "country": "GB"}))
    presence = Presence(client)
    assert presence.online(TIMEOUT_S) == {"ada": ada}
    presence.drop_dead()
    assert presence.claim(Holder("ada", "n/2", 2, True)).before == ada


def test_those_who_are_online_are_looked_at_bit_by_bit(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be twenty thousand: for each bot that is registered, those who play would be held up."""
    presence, clock, pauses = Presence(client), itertools.count(0, 2 * cooperative.MOST_S), list[float]()
    Heartbeats(client).send("n", time.time(), first=True)
    for number in range(10):
        presence.claim(Holder(f"p{number}", f"n/{number}", 1, True))
    # the module's own: other threads use the real one
    monkeypatch.setattr(cooperative, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=pauses.append))
    assert len(presence.online(TIMEOUT_S)) == len(pauses) == 10
    presence.drop_dead()
    assert len(pauses) == 20


def test_who_registers_at_the_same_moment_shares_one_look(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes all names that are online; hundreds at once would take all connections to Redis for seconds."""
    presence, looks = Presence(client), list[float]()
    Heartbeats(client).send("n", time.time(), first=True)
    presence.claim(Holder("ada", "n/1", 1, True))
    look, begun, may_look = presence.online, threading.Event(), threading.Event()

    def online(node_timeout_s: float) -> dict[str, Holder]:
        looks.append(node_timeout_s)
        begun.set()
        assert may_look.wait(LIMIT_S)
        return look(node_timeout_s)

    monkeypatch.setattr(presence, "online", online)
    with ThreadPoolExecutor(20) as pool:
        answers = [pool.submit(presence.used_names, TIMEOUT_S, "bob")]
        assert begun.wait(LIMIT_S)
        answers += [pool.submit(presence.used_names, TIMEOUT_S, "bob") for _ in range(19)]
        wait_for(lambda: len(presence._used._waiting) == 19, "all others wait")
        may_look.set()
        assert [set(answer.result()) for answer in answers] == [{"ada"}] * 20
    assert len(looks) == 2
