"""What the heartbeats of nodes show: since when a door was open at none of them."""

from __future__ import annotations

import math

import pytest
import redis

from battlebot.arena.live.heartbeats import MOST_OUTAGES, Heartbeats
from battlebot.redisio import keys
from battlebot.referee.events import Outage


def test_a_short_time_without_a_node_is_an_outage_only_before_a_nodes_first_heartbeat(client: redis.Redis) -> None:
    """Heartbeats that are late, on a slow server, must not keep the absent from being missed."""
    heartbeats = Heartbeats(client)
    assert heartbeats.send("n1", 100.0, first=True)
    assert not heartbeats.send("n1", 104.5, first=False)
    heartbeats.send("n2", 106.0, first=True)
    assert heartbeats.shown("web", 110.5).outages == []
    assert heartbeats.shown("web", 111.5).outages == [Outage(106.0, 111.5, lasts=True)]
    assert heartbeats.send("n3", 109.5, first=True)
    heartbeats.send("n2", 116.0, first=False)
    assert heartbeats.shown("web", 116.5).outages == [Outage(106.0, 109.5), Outage(109.5, 116.0)]
    heartbeats.send("n1", 112.0, first=False)
    heartbeats.send("n2", 120.5, first=False)
    assert heartbeats.shown("web", 120.5).outages == [Outage(106.0, 109.5), Outage(109.5, 116.0)], (
        "a clock that is behind"
    )


def test_a_node_that_cannot_let_bots_in_ends_no_outage(client: redis.Redis) -> None:
    """It lives, and yet who has left cannot come back."""
    heartbeats = Heartbeats(client)
    heartbeats.send("n1", 100.0, first=True)
    for second in range(101, 140):
        heartbeats.send("n2", float(second), first=True, ago_s=math.inf)
    assert heartbeats.shown("web", 140.0).outages == [Outage(100.0, 140.0, lasts=True)]
    assert heartbeats.since_s("web") == 0.0, "no gap in which nobody lived"
    heartbeats.send("n2", 140.0, first=True)
    assert heartbeats.shown("web", 141.0).outages == [Outage(100.0, 140.0)]


def test_while_nodes_begin_that_cannot_let_bots_in_the_outage_counts_as_if_it_were_over(client: redis.Redis) -> None:
    """All had gone: nobody could come back, not even those that a node knew."""
    heartbeats = Heartbeats(client)
    heartbeats.send("n1", 100.0, first=True)
    heartbeats.send("n2", 120.0, first=True, ago_s=math.inf)
    assert heartbeats.shown("web", 121.0).outages == [Outage(100.0, 121.0)]


def test_only_the_latest_outages_are_remembered(client: redis.Redis) -> None:
    """Of a server that is restarted again and again."""
    heartbeats = Heartbeats(client)
    for moment in range(100, 1000, 10):
        heartbeats.send("n1", float(moment), first=True)
    found = heartbeats.shown("web", 990.0).outages
    assert (len(found), found[-1]) == (MOST_OUTAGES, Outage(980.0, 990.0))


def test_a_heartbeat_opens_the_door_at_the_time_at_which_its_node_last_could(client: redis.Redis) -> None:
    """Not at its own: the node may be unable to let bots in since then, or drain."""
    heartbeats = Heartbeats(client)
    heartbeats.send("n1", 100.0, first=True)
    for second in range(1, 5):
        heartbeats.send("n1", 100.0 + second, first=False, ago_s=second - 0.5)
        heartbeats.send("n2", 100.0 + second, first=True, ago_s=math.inf)
    shown = heartbeats.shown("web", 104.0)
    assert shown == ([], 100.5)
    assert [shown.was_open_after(moment_s, 104.0) for moment_s in (100.5, 100.6)] == [True, False]
    assert heartbeats.all() == {"n1": 104.0, "n2": 104.0}, "they live"
    assert heartbeats.shown("web", 105.6) == ([Outage(100.5, 105.6, lasts=True)], 100.5)
    heartbeats.send("n1", 107.0, first=False, ago_s=0.5)
    assert heartbeats.shown("web", 107.5) == ([Outage(100.5, 107.0)], 106.5)


LIVES: dict[str, tuple[float | None, bool, float]] = {
    # the last heartbeat, whether somebody hears the node's mailbox, until when it lived if it is 1000 now
    "it listens": (999.2, True, 1000.0),
    "it was killed a moment ago": (999.2, False, 999.2),
    "its machine is gone": (996.0, True, 996.0),
    "it has been found dead": (None, False, 0.0),
}


@pytest.mark.parametrize("node", LIVES)
def test_a_node_has_lived_until_its_last_heartbeat_or_lives(client: redis.Redis, node: str) -> None:
    """What a bot thinks at a node that lives is not for nothing; what passed since a node died is."""
    beat_s, listens, until_s = LIVES[node]
    if beat_s is not None:
        client.zadd(keys.NODES, {"n2": beat_s * 1000})
    with client.pubsub() as mailbox:
        if listens:
            mailbox.subscribe(keys.mailbox("n2"))
            assert mailbox.get_message(timeout=5.0) is not None
        assert Heartbeats(client).lived_until_s("n2", 1000.0) == until_s
