"""What the heartbeats of nodes show: since when a door was open at none of them."""

from __future__ import annotations

import math

import pytest
import redis

from battlebot.arena.live.heartbeats import LIVES_S, MOST_OUTAGES, Heartbeats
from battlebot.config import Settings
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
    assert heartbeats.send("n3", 107.8, first=True), "a restart that took no two seconds"
    heartbeats.send("n2", 116.0, first=False)
    assert heartbeats.shown("web", 116.5).outages == [Outage(106.0, 107.8), Outage(107.8, 116.0)]
    heartbeats.send("n1", 112.0, first=False)
    heartbeats.send("n2", 120.5, first=False)
    assert heartbeats.shown("web", 120.5).outages == [Outage(106.0, 107.8), Outage(107.8, 116.0)], (
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


def test_the_time_before_a_door_was_first_opened_is_no_outage(client: redis.Redis) -> None:
    """Of a new server: its node sends heartbeats before it lets anybody in."""
    heartbeats = Heartbeats(client)
    heartbeats.send("n1", 100.0, first=True, ago_s=math.inf)
    heartbeats.send("n1", 101.0, first=True)
    assert heartbeats.shown("web", 101.5).outages == []


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
    assert (shown.outages, shown.open_s) == ([], 100.5)
    assert [shown.could_come_in(moment_s, 104.0) for moment_s in (100.5, 100.6)] == [True, False]
    assert heartbeats.all() == {"n1": 104.0, "n2": 104.0}, "they live"
    shown = heartbeats.shown("web", 105.6)
    assert (shown.outages, shown.open_s) == ([Outage(100.5, 105.6, lasts=True)], 100.5)
    heartbeats.send("n1", 107.0, first=False, ago_s=0.5)
    shown = heartbeats.shown("web", 107.5)
    assert (shown.outages, shown.open_s) == ([Outage(100.5, 107.0)], 106.5)


BEATS: dict[str, tuple[list[float], float, list[bool]]] = {
    # when the door was open as heartbeats say, when a bot's time ended; after which of them it could have come in
    "it was open": ([0, 1, 2], 1.5, [False, False, True]),
    "it was open at the very end": ([0, 1], 1.0, [False, True]),
    "a little late": ([0, 1.7, 2.7], 1.5, [False, True, True]),
    "shut at the end": ([0, 1, 4, 5, 5.9, 6], 3.0, [False] * 5 + [True]),
    "shut until just before the end": ([0, 1, 4, 5, 6], 4.1, [False] * 4 + [True]),
    "shut until a while before the end": ([0, 1, 4, 5, 6, 7], 6.1, [False] * 5 + [True]),
    "shut after the end": ([0, 1, 4], 0.9, [False, True, True]),
    "open for a moment only": ([0, 1, 4, 5, 8], 3.0, [False] * 4 + [True]),
    "always late": ([0, 3, 6, 9], 2.0, [False, False, True, True]),
    "a clock that is behind": ([0, 1, 0.5, 4, 3, 6], 2.0, [False] * 5 + [True]),
}


@pytest.mark.parametrize("case", BEATS)
def test_after_its_door_was_shut_for_a_moment_a_bot_has_a_while_to_come_in(client: redis.Redis, case: str) -> None:
    """Its login may have waited in the server. What a node knows of its own door counts like a heartbeat."""
    moments_s, ended_s, expected = BEATS[case]
    heartbeats, found, known = Heartbeats(client), [], []
    for moment_s in moments_s:
        now_s = 1000.0 + moment_s
        known.append(heartbeats.shown("web", now_s, "n1").opened(now_s).could_come_in(1000.0 + ended_s, now_s))
        heartbeats.send("n1", now_s, first=False)
        found.append(heartbeats.shown("web", now_s).could_come_in(1000.0 + ended_s, now_s))
    assert (found, known[1:]) == (expected, expected[1:])


SILENCES: dict[str, tuple[list[float], float, float, bool]] = {
    # n2's heartbeats (-1: it ends), when a bot's time ended, when n1 asks, which sends one each second; whether the bot
    # could have come in. n3 is always heard
    "heard since": ([0, 1], 0.9, 1.2, True),
    "not heard since": ([0, 1], 1.1, 1.2, False),
    "not heard since, for long": ([0, 1], 1.1, 15.9, False),
    "gone": ([0, 1], 1.1, 16.1, True),
    "heard again": ([0, 1, 4], 3.0, 4.5, False),
    "heard again for a while": ([0, 1, 4, 5, 6], 3.0, 6.0, True),
    "silent after the end": ([0, 1, 4], 1.0, 4.5, True),
    "heard again before the end": ([0, 1, 4, 5], 4.5, 5.1, False),
    "heard again long before the end": ([0, 1, 4, 5, 6, 7], 6.5, 7.1, True),
    "only late": ([0, 1, 2.7], 2.0, 2.8, True),
    "always late": ([0, 3, 6, 9], 2.5, 6.1, True),
    "stopped": ([0, 1, -1], 1.1, 1.2, True),
}


@pytest.mark.parametrize("case", SILENCES)
@pytest.mark.parametrize("door", ["", ".tcp"])
def test_a_bot_may_have_come_to_a_node_that_is_silent(client: redis.Redis, case: str, door: str) -> None:
    """If that one belongs to its door; a node of another door holds up nobody. The asker lives, heard or not."""
    moments_s, ended_s, asked_s, expected = SILENCES[case]
    heartbeats, node = Heartbeats(client), f"n2{door}"
    beats = [(float(second), "n1") for second in range(17)] + [(moment_s, node) for moment_s in moments_s]
    beats += [(tenth / 10, "n3") for tenth in range(170)]
    for moment_s, sender in sorted(beats):
        if 0 <= moment_s <= asked_s:
            heartbeats.send(sender, 1000.0 + moment_s, first=False)
    if -1 in moments_s:
        heartbeats.end([node])
    now_s = 1000.0 + asked_s
    shown = heartbeats.shown("web", now_s, "n1").opened(now_s)
    assert shown.could_come_in(1000.0 + ended_s, now_s) == (expected or bool(door))


def test_each_door_is_shut_by_itself(client: redis.Redis) -> None:
    """The other one was open meanwhile."""
    heartbeats = Heartbeats(client)
    for second in range(5):
        heartbeats.send("n1", 1000.0 + second, first=False)
    for second in (0, 4):
        heartbeats.send("n2.tcp", 1000.0 + second, first=False)
    shown = [heartbeats.shown(door, 1004.0) for door in ("web", "tcp")]
    assert [one.could_come_in(1002.0, 1004.0) for one in shown] == [True, False]


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


def test_no_setting_has_a_node_found_dead_while_it_counts_as_alive() -> None:
    """Live ones would be found dead between two heartbeats, and put their players into queues nevertheless."""
    assert Settings.__dataclass_fields__["node_timeout_s"].metadata["low"] >= LIVES_S
