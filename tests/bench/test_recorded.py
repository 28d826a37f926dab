"""What counts as lost: less than half of the ratio by CPU that was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import recorded


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of one scenario."""
    path = tmp_path / "recorded.json"
    path.write_text('{"endless": 0.4}')
    monkeypatch.setattr(recorded, "FILE", path)
    return path


def row(scenario: str, cpu_ratio: float | None, **more: object) -> dict[str, object]:
    """As a scenario gives it."""
    return {"scenario": scenario, "cpu_ratio": cpu_ratio, **more}


@pytest.mark.parametrize(("ratio", "count"), [(0.4, 0), (0.2, 0), (0.199, 1), (None, 0)])
def test_a_ratio_below_half_is_lost(ratio: float | None, count: int) -> None:
    """And one that could not be measured is not; nor is one that nobody has recorded."""
    assert len(recorded.lost([row("endless", ratio), row("alone", 0.001)])) == count


def test_a_record_is_kept_beside_the_others(file: Path) -> None:
    """A variant by options is none."""
    recorded.record([row("contest", 0.01), row("idle", None), row("crowd", 0.02, keep=True)])
    assert json.loads(file.read_text()) == {"contest": 0.01, "endless": 0.4}
