"""The short run: a contest of twelve bots over two nodes and two workers, while a deck of faults befalls them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from chaos.checker import tally
from chaos.faults import DECK, faults
from chaos.play import Plan, log_problems, play
from chaos.town import town

SEED = 2026


@pytest.mark.timeout(400)
def test_a_contest_outlives_whatever_is_killed_paused_or_restarted(tmp_path: Path) -> None:
    """Every kind of fault once, in the order of one seed; `make chaos` has another seed each time, and more faults."""
    sequence = iter(list(islice(faults(SEED), len(DECK))))

    def trouble() -> bool:
        fault = next(sequence, None)
        if fault is not None:
            made.befall(fault)
        return fault is not None

    with town(tmp_path / "data") as made:
        plan = Plan("cup", SEED, bots=12, meetings=2, think_s=0.25)
        evidence, found = play(made, plan, trouble, tmp_path / "cup")
        numbers = tally(evidence)
        assert found + log_problems(made) == [], f"seed {SEED}"
        # else nothing was shown
        assert made.faults >= 12, made.hits
        assert numbers["matches"] >= 2 * 12 * 11 // 2
        assert numbers["acknowledged"] > numbers["matches"]
