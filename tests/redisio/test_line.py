"""A line to Redis: commands that travel as one transaction, each with its own answer."""

from __future__ import annotations

import gevent
import pytest
import redis

from battlebot.redisio.line import Line


def test_each_command_has_its_own_answer(client: redis.Redis) -> None:
    """An error of one is nobody else's; one alone is no transaction."""
    line = Line(client)
    first, second, third = line.answers([("SET", "a", "1"), ("LPUSH", "a", "x"), ("GET", "a")])
    assert (first, third) == (b"OK", b"1")
    assert isinstance(second, redis.ResponseError)
    (alone,) = line.answers([("LPUSH", "a", "x")])
    assert isinstance(alone, redis.ResponseError)
    assert line.answers([("GET", "a")]) == [b"1"]


def test_a_line_that_redis_has_closed_meanwhile_connects_anew(
    client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is sent on it: Redis has been restarted, and nothing is wrong any more."""
    monkeypatch.setattr("battlebot.redisio.line.IDLE_S", 0.0)
    line = Line(client)
    line.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    assert line.answers([("SET", "b", "1"), ("GET", "b")]) == [b"OK", b"1"]


def test_a_line_that_broke_is_not_looked_at(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """That would be to connect: where Redis hangs, whoever asks would wait twice as long."""
    looks: list[redis.Connection] = []
    monkeypatch.setattr("battlebot.redisio.line.IDLE_S", 0.0)
    monkeypatch.setattr("battlebot.redisio.line._is_stale", looks.append)
    line = Line(client)
    line.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    assert isinstance(line.answers([("PING",)])[0], redis.ConnectionError)
    assert line.answers([("SET", "b", "1")]) == [b"OK"]
    assert len(looks) == 1


def test_where_redis_is_away_each_command_has_the_error(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """And when it is back, the line is."""
    monkeypatch.setattr("battlebot.redisio.line.IDLE_S", 60.0)
    line = Line(client)
    line.answers([("PING",)])
    client.client_kill_filter(skipme=True, _type="normal")
    answers = line.answers([("SET", "b", "1"), ("GET", "b")])
    assert all(isinstance(answer, redis.ConnectionError) for answer in answers)
    assert line.answers([("SET", "b", "1"), ("GET", "b")]) == [b"OK", b"1"]


def test_an_answer_that_nobody_waited_for_is_nobody_elses(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited was thrown out; what comes next gets its own answer."""
    line = Line(client)
    line.answers([("SET", "c", "old")])
    read = redis.Connection.read_response

    def thrown_out(*arguments: object) -> None:
        raise gevent.GreenletExit

    with monkeypatch.context() as interrupted:
        for kind in (redis.Connection, redis.UnixDomainSocketConnection):
            interrupted.setattr(kind, "read_response", thrown_out)
        with pytest.raises(gevent.GreenletExit):
            line.answers([("GET", "c")])
    assert redis.Connection.read_response is read
    assert line.answers([("SET", "d", "new")]) == [b"OK"]
