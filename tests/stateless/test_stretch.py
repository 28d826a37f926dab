"""Stretches in the test's own process: nobody else asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec.structs
import pytest
from battling import Field
from cluster import cluster
from httpbots import Bots

from battlebot.arena import keys
from battlebot.arena.calls import encode_match
from battlebot.arena.leases import Leases
from battlebot.arena.scripts import Scripts
from battlebot.config import Settings
from battlebot.referee.advance import asked_from_s
from battlebot.stateless import make_askers, stretch
from battlebot.stateless.health import PAUSED_AFTER, Health


@pytest.fixture
def ground(settings: Settings, tmp_path: Path) -> Iterator[Field]:
    """Where battles are begun that no worker asks for."""
    with cluster(replace(settings, bot_loopback=True), tmp_path) as parts:
        field = Field(parts)
        field.battles.ask_bots = lambda match_id: None
        yield field


def stretches(field: Field, health: Health, again: list[str]) -> stretch.Stretches:
    """Stretches that say in `again` what is to be asked for again."""
    return stretch.Stretches(
        field.conductor, make_askers(field.parts.settings), Leases(Scripts(field.client)), health, again.append
    )


def test_a_stretch_ends_in_a_pause_that_is_longer(ground: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is given back and asked for again: no task waits for longer than tasks may take."""
    monkeypatch.setattr(stretch, "LONGEST_S", 0.1)
    match, again = ground.begin([bots.url("good")] * 2, numOfTasksPerTick=2, speed=5000), list[str]()
    assert stretches(ground, Health(Scripts(ground.client)), again).conduct(match.id) == 2
    assert again == [match.id]
    after = ground.store.load(match.id)
    assert asked_from_s(ground.conductor.registry[match.game], after) > time.time()


@pytest.mark.parametrize("rated", [True, False])
def test_what_a_bot_does_in_a_battle_that_anybody_may_ask_for_says_nothing_of_its_health(
    ground: Field, bots: Bots, rated: bool
) -> None:
    """In other matches it does. No bot is paused because somebody asks it what it cannot answer."""
    url, health = bots.url("failing"), Health(Scripts(ground.client))
    match = ground.begin([url] * PAUSED_AFTER)
    ground.conductor.store.client.hset(
        keys.match(match.id), "doc", encode_match(msgspec.structs.replace(match, rated=rated))
    )
    assert stretches(ground, health, []).conduct(match.id) == PAUSED_AFTER
    assert health.flush() == ([url] if rated else [])
    assert health.report(url, "any")["failuresInARow"] == (PAUSED_AFTER if rated else 0)
