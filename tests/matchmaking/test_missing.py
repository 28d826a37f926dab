"""How long a contest has waited for a bot: only in times in which it could have come."""

from __future__ import annotations

import pytest
import redis

from battlebot.matchmaking.missing import KEPT_S, Chance, Missing
from battlebot.redisio import keys


def noted(
    client: redis.Redis, now_s: float, until_s: float | None = None, shut: tuple[tuple[float, float], ...] = ()
) -> float:
    """Notes that a bot is missing; returns for how long it has been waited for."""
    chance = Chance(now_s if until_s is None else until_s, shut)
    return Missing(client).note("g", "cup", "a run", {"a": chance}, now_s, 100.0)["a"].seconds


@pytest.mark.parametrize(
    ("shut", "counted_s"),
    [
        ((), 60),
        (((110.0, 120.0),), 50),
        (((90.0, 110.0), (150.0, 170.0)), 40),
        (((120.0, 130.0), (110.0, 150.0)), 20),
        (((110.0, 130.0), (120.0, 140.0)), 30),
        (((0.0, 200.0),), 0),
        (((10.0, 20.0), (170.0, 180.0)), 60),
    ],
)
def test_times_in_which_it_could_not_come_do_not_count(
    client: redis.Redis, shut: tuple[tuple[float, float], ...], counted_s: float
) -> None:
    """Each row: such times of the minute from 100 to 160, in any order, and how much of it counts."""
    assert noted(client, 100.0) == 0
    assert noted(client, 160.0, shut=shut) == counted_s


def test_time_of_which_it_is_not_known_counts_later(client: redis.Redis) -> None:
    """Each second once, and none before the bot was missing."""
    assert noted(client, 100.0, until_s=90.0) == 0
    assert noted(client, 110.0, until_s=95.0) == 0
    assert noted(client, 120.0, until_s=115.0) == 15
    assert noted(client, 130.0, until_s=112.0) == 15
    assert noted(client, 140.0) == 40


def test_a_bot_is_not_missed_for_the_time_before_it_went_missing(client: redis.Redis) -> None:
    """Though that is counted only later."""
    Missing(client).note("g", "cup", "a run", {}, 100.0, 100.0)
    assert noted(client, 120.0, until_s=110.0) == 0
    assert noted(client, 130.0) == 10


def test_who_is_not_missing_any_more_is_forgotten(client: redis.Redis) -> None:
    """Once it is missing again, its time begins again."""
    missing = Missing(client)
    for now_s, bots in ((100.0, "ab"), (110.0, "b"), (120.0, "ab")):
        missing.note("g", "cup", "a run", {bot: Chance(now_s) for bot in bots}, now_s, 100.0)
        assert set(missing.noted("g", "cup", "a run")) == set(bots)
    assert {bot: wait.seconds for bot, wait in missing.noted("g", "cup", "a run").items()} == {"a": 0, "b": 20}


def test_another_run_of_a_contest_knows_nothing_of_whom_one_before_missed(client: redis.Redis) -> None:
    """The time of each bot begins again."""
    noted(client, 100.0)
    assert Missing(client).noted("g", "cup", "another run") == {}


def test_a_bot_is_missed_all_the_same_when_the_clock_was_set_back(client: redis.Redis) -> None:
    """By an hour, in which it would not be missed at all otherwise. What was counted before stays."""
    noted(client, 3700.0)
    assert noted(client, 3720.0) == 20
    assert noted(client, 120.0) == 20
    assert noted(client, 130.0) == 30


def test_what_a_contest_leaves_behind_is_not_kept_for_ever(client: redis.Redis) -> None:
    """It may be ended while bots are missing, and then nobody looks any more."""
    noted(client, 100.0)
    assert 0 < client.ttl(keys.missed("g", "cup")) <= KEPT_S
