"""Work that is asked for now and then, however often it is wished for, and never forgotten."""

from __future__ import annotations

import redis

from battlebot.redisio.pace import Pace


def test_the_first_wish_is_for_now_and_the_others_are_put_off_together(client: redis.Redis) -> None:
    """Each subject by itself; what was put off is due once, and asked for by that."""
    pace = Pace(client, "ratings", every_s=60.0)
    assert [pace.now("chess"), pace.now("chess"), pace.now("go"), pace.now("chess")] == [True, False, True, False]
    assert pace.due() == ["chess"]
    assert pace.due() == []
    assert not pace.now("chess")
    assert pace.due() == ["chess"]


def test_after_a_while_it_is_for_now_again(client: redis.Redis) -> None:
    """Also where nobody has looked for what is due."""
    pace = Pace(client, "ratings", every_s=0.05)
    assert pace.now("chess")
    while not pace.now("chess"):
        pass
    assert Pace(client, "other").now("chess")


def test_what_is_due_is_not_wished_for_at_once(client: redis.Redis) -> None:
    """The sweep has asked for it: the next wish waits its time."""
    pace = Pace(client, "ratings", every_s=0.05)
    assert pace.now("chess")
    assert not pace.now("chess")
    slow = Pace(client, "ratings", every_s=60.0)
    assert slow.due() == ["chess"]
    assert not slow.now("chess")


def test_what_is_only_asked_for_the_first_time_is_not_put_off(client: redis.Redis) -> None:
    """Each subject by itself; again once the interval is over."""
    pace = Pace(client, "checks", every_s=60.0)
    assert [pace.first("chess"), pace.first("chess"), pace.first("go")] == [True, False, True]
    assert pace.due() == []
    short = Pace(client, "short checks", every_s=0.05)
    assert short.first("chess")
    while not short.first("chess"):
        pass
