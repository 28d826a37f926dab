"""Planned restarts: all nodes of a contest one after another, twice, and nobody loses anything by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.checker import tally
from chaos.faults import WEBS, WORKERS
from chaos.play import Plan, log_problems, play
from chaos.town import town

GONE_WITHIN_S = 10.0  # it says "in seconds"; what it takes without load is close_timeout_s, and three more


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_rolling_restart_of_all_nodes_costs_nobody_a_match_or_a_turn(tmp_path: Path) -> None:
    """No match is void, nobody loses by time or absence but who means to, no turn is lost; nodes go in seconds."""
    parts, gone_s = [*WEBS, *WORKERS, "beat", *WEBS], []

    def trouble() -> bool:
        if parts:
            part = parts.pop(0)
            took_s = made.roll(part)
            gone_s.extend([took_s] if part in WEBS else [])
        return bool(parts)

    with town(tmp_path / "data") as made:
        plan = Plan("cup", seed=1, bots=12, meetings=2, think_s=0.3)
        evidence, found = play(made, plan, trouble, tmp_path / "cup")
        assert found + log_problems(made) == []
        assert parts == [], "the contest was over before all had been restarted"
        assert tally(evidence)["void"] == 0
        assert max(gone_s) < GONE_WITHIN_S
