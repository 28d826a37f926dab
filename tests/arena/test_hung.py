"""Whose time is over may have come to a node that hung when it was found dead: it waits there."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest
import redis
from conductors import Conductor

from battlebot.arena.live.emptyseats import HANGS_S
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.referee.events import Left, Overdue
from battlebot.referee.match import Match, Verdict
from battlebot.rules.registry import Registry

BROKEN = Left("ada", "n1/1.1", clean=False)
LEFT_AGO_S = 40.0  # longer than a turn may take, and than the grace after it


@pytest.mark.parametrize(
    ("left", "door", "hung_after_s", "is_spared"),
    [
        (BROKEN, "web", 1.0, True),
        (BROKEN, "web", 1.0 - HANGS_S, True),
        (BROKEN, "web", -1.0 - HANGS_S, False),
        (BROKEN, "tcp", 1.0, False),
        (Left("ada", "n1/1.1", clean=True), "web", 1.0, False),
    ],
    ids=["meanwhile", "a moment before", "long before", "at another door", "left by itself"],
)
def test_who_may_have_come_to_a_node_that_hung_has_the_whole_grace(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    left: Left,
    door: str,
    hung_after_s: float,
    is_spared: bool,
) -> None:
    """Then the match is void: nobody can tell whether it came."""
    heartbeats, left_s = Heartbeats(client), time.time() - LEFT_AGO_S
    match = begun("numberwang", now_s=left_s - 1)
    match = Conductor(registry, store, now_s=lambda: left_s).conduct(match, left).match
    heartbeats.hung(door, left_s + hung_after_s)
    looks, second = [], 0
    end_s = LEFT_AGO_S + match.limits.node_grace_s
    for later_s in (LEFT_AGO_S, end_s - 1.0, end_s + 2.0):
        while second <= later_s:
            heartbeats.send("n1", left_s + second, first=False)
            second += 1
        conductor = Conductor(registry, store, now_s=partial(sum, (left_s, later_s)))
        match = conductor.conduct(match, Overdue()).match
        looks.append(_how(match.verdict))
    lost = ("bob", "disconnect")
    assert looks == ([None, None, (None, "error")] if is_spared else [lost, lost, lost])


def _how(verdict: Verdict | None) -> tuple[str | None, str] | None:
    return None if verdict is None else (verdict.victor, verdict.reason.value)
