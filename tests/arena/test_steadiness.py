"""How sweeps come, and how long the absent are spared by it: moments of the test's own, in a real Valkey."""

from __future__ import annotations

import pytest
import redis

from battlebot.arena.live.steadiness import PATIENCE_S, SPARE_S, Steadiness

SWEEPS: dict[str, tuple[list[float], float]] = {
    # when they were, and what the last of them spares the absent
    "the first": ([0], PATIENCE_S),
    "just after the first": ([0, 1], PATIENCE_S),
    "a while after the first": ([0, 1, 2], SPARE_S),
    "a little late": ([0, 1, 2, 3.4], SPARE_S),
    "after a stall": ([0, 1, 2, 3, 5], PATIENCE_S),
    "a second after a stall": ([0, 1, 2, 3, 9, 10], PATIENCE_S),
    "a while after a stall": ([0, 1, 2, 3, 9, 10, 11], SPARE_S),
    "always late": ([0, 4, 8, 12], SPARE_S),
    "late twice running": ([0, 1, 2, 6, 10], SPARE_S),
    "late now and then": ([0, 1, 2, 6, 7, 8, 9, 13], PATIENCE_S),
}


@pytest.mark.parametrize("sweeps", SWEEPS)
def test_the_absent_are_spared_for_longer_just_after_a_stall(client: redis.Redis, sweeps: str) -> None:
    """Each sweep is another process's: what is known of the earlier ones is in Redis."""
    moments_s, spare_s = SWEEPS[sweeps]
    for moment_s in moments_s:
        found_s = Steadiness(client, 1.0).note(1000.0 + moment_s)
    assert found_s == spare_s
