"""A connection to Redis: commands that travel as one transaction, each with its own answer."""

from __future__ import annotations

import gevent
import pytest
import redis
from lefttocollector import left_of

from battlebot.errors import Unavailable
from battlebot.redisio.scripts import GroupedScripts, Script
from battlebot.redisio.transactions import TransactionConnection
from battlebot.runtime.gate import Gate


def test_each_command_has_its_own_answer(client: redis.Redis) -> None:
    """An error of one is nobody else's; one alone is no transaction."""
    connection = TransactionConnection(client)
    first, second, third = connection.answers([("SET", "a", "1"), ("LPUSH", "a", "x"), ("GET", "a")])
    assert (first, third) == (b"OK", b"1")
    assert isinstance(second, redis.ResponseError)
    (alone,) = connection.answers([("LPUSH", "a", "x")])
    assert isinstance(alone, redis.ResponseError)
    assert connection.answers([("GET", "a")]) == [b"1"]


def test_a_connection_that_redis_has_closed_meanwhile_connects_anew(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is sent on it: Redis has been restarted, and nothing is wrong any more."""
    monkeypatch.setattr("battlebot.redisio.transactions.IDLE_S", 0.0)
    connection = TransactionConnection(client)
    connection.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    assert connection.answers([("SET", "b", "1"), ("GET", "b")]) == [b"OK", b"1"]


def test_a_connection_that_broke_is_not_looked_at(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """That would be to connect: where Redis hangs, whoever asks would wait twice as long."""
    looks: list[redis.Connection] = []
    monkeypatch.setattr("battlebot.redisio.transactions.IDLE_S", 0.0)
    monkeypatch.setattr("battlebot.redisio.transactions._is_stale", looks.append)
    connection = TransactionConnection(client)
    connection.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    assert isinstance(connection.answers([("PING",)])[0], redis.ConnectionError)
    assert connection.answers([("SET", "b", "1")]) == [b"OK"]
    assert len(looks) == 1


def test_where_redis_is_away_each_command_has_the_error(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """And when it is back, the connection is."""
    monkeypatch.setattr("battlebot.redisio.transactions.IDLE_S", 60.0)
    connection = TransactionConnection(client)
    connection.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    answers = connection.answers([("SET", "b", "1"), ("GET", "b")])
    assert all(isinstance(answer, redis.ConnectionError) for answer in answers)
    assert connection.answers([("SET", "b", "1"), ("GET", "b")]) == [b"OK", b"1"]


def test_an_answer_that_nobody_waited_for_is_nobody_elses(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited was thrown out; what comes next gets its own answer."""
    connection = TransactionConnection(client)
    connection.answers([("SET", "c", "old")])
    read = redis.Connection.read_response

    def thrown_out(*arguments: object) -> None:
        raise gevent.GreenletExit

    with monkeypatch.context() as interrupted:
        for kind in (redis.Connection, redis.UnixDomainSocketConnection):
            interrupted.setattr(kind, "read_response", thrown_out)
        with pytest.raises(gevent.GreenletExit):
            connection.answers([("GET", "c")])
    assert redis.Connection.read_response is read
    assert connection.answers([("SET", "d", "new")]) == [b"OK"]


def test_a_script_that_redis_does_not_answer_is_not_left_to_the_collector() -> None:
    """It runs seldom in a node, where all who play while Redis is away call one."""
    scripts = GroupedScripts(redis.Redis(unix_socket_path="/nowhere/valkey.sock"), Gate)

    def call() -> None:
        with pytest.raises(Unavailable):
            scripts.run(Script("battlebot.redisio", "mutexrelease.lua"), ["lock", "asked"], ["token"])

    assert not left_of(GroupedScripts.run, call)
