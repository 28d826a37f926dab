"""Work that is asked for at most once per interval, however often it is wished for, and never forgotten."""

from __future__ import annotations

import redis

from battlebot.redisio import keys
from battlebot.redisio.throttle import SharedThrottle


def test_the_first_wish_is_for_now_and_the_others_are_put_off_together(client: redis.Redis) -> None:
    """Each subject by itself; what was put off is due once, and asked for by that."""
    throttle = SharedThrottle(client, "ratings", every_s=60.0)
    asked = ["chess", "chess", "go", "chess"]
    assert [throttle.now(subject) for subject in asked] == [True, False, True, False]
    assert throttle.due() == ["chess"]
    assert throttle.due() == []
    assert not throttle.now("chess")
    assert throttle.due() == ["chess"]


def test_after_a_while_it_is_for_now_again(client: redis.Redis) -> None:
    """Also where nobody has looked for what is due."""
    throttle = SharedThrottle(client, "ratings", every_s=0.05)
    assert throttle.now("chess")
    while not throttle.now("chess"):
        pass
    assert SharedThrottle(client, "other").now("chess")


def test_what_is_due_is_not_wished_for_at_once(client: redis.Redis) -> None:
    """The sweep has asked for it: the next wish waits its time."""
    throttle = SharedThrottle(client, "ratings", every_s=60.0)
    assert throttle.now("chess")
    assert not throttle.now("chess")
    client.delete(keys.throttled("ratings", "chess"))  # the interval is over
    assert throttle.due() == ["chess"]
    assert not throttle.now("chess")


def test_what_is_only_asked_for_the_first_time_is_not_put_off(client: redis.Redis) -> None:
    """Each subject by itself."""
    throttle = SharedThrottle(client, "checks", every_s=60.0)
    assert [throttle.attempt(subject, again_s=60.0) for subject in ("chess", "chess", "go")] == [True, False, True]
    assert throttle.due() == []


def test_work_that_was_attempted_and_not_done_is_attempted_again_soon(client: redis.Redis) -> None:
    """Once it is done, the whole interval passes."""
    throttle = SharedThrottle(client, "checks", every_s=60.0)
    assert throttle.attempt("chess", again_s=0.05)
    while not throttle.attempt("chess", again_s=0.05):
        pass
    throttle.done("chess")
    assert client.pttl(keys.throttled("checks", "chess")) > 30_000
    assert not throttle.attempt("chess", again_s=0.05)
