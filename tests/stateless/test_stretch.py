"""Stretches in the test's own process: nobody else asks."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from battling import Field
from cluster import cluster
from httpbots import Bots

from battlebot.arena.leases import Leases
from battlebot.arena.scripts import Scripts
from battlebot.config import Settings
from battlebot.referee.advance import asked_from_s
from battlebot.stateless import make_askers, stretch
from battlebot.stateless.health import Health


def test_a_stretch_ends_in_a_pause_that_is_longer(
    settings: Settings, tmp_path: Path, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The match is given back and asked for again: no task waits for longer than tasks may take."""
    monkeypatch.setattr(stretch, "LONGEST_S", 0.1)
    with cluster(replace(settings, bot_loopback=True), tmp_path) as parts:
        field = Field(parts)
        field.battles.ask_bots = lambda match_id: None
        match = field.begin([bots.url("good")] * 2, numOfTasksPerTick=2, speed=5000)
        scripts, again = Scripts(field.client), list[str]()
        stretches = stretch.Stretches(
            field.conductor, make_askers(parts.settings), Leases(scripts), Health(scripts), again.append
        )
        assert stretches.conduct(match.id) == 2
        assert again == [match.id]
        after = field.store.load(match.id)
        assert asked_from_s(field.conductor.registry[match.game], after) > time.time()
