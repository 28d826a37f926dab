"""The recorded ratios by CPU (`recorded.json`), and which scenarios have fallen far below them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from bench.runner import Row

FILE = Path(__file__).with_name("recorded.json")
LOST = 0.5  # of the recorded ratio: less cannot be noise


def record(rows: Sequence[Row]) -> None:
    """Record the ratios of the rows, replacing those of their scenarios."""
    FILE.write_text(json.dumps(_known() | _ratios(rows), indent=4, sort_keys=True) + "\n")


def lost(rows: Sequence[Row]) -> list[str]:
    """A sentence for each scenario whose ratio has fallen to less than half of the recorded one."""
    known = _known()
    return [
        f"{name}: its ratio by CPU is {ratio:g}, and was {known[name]:g}"
        for name, ratio in _ratios(rows).items()
        if name in known and ratio < LOST * known[name]
    ]


def _known() -> dict[str, float]:
    return dict(json.loads(FILE.read_text()))


def _ratios(rows: Sequence[Row]) -> dict[str, float]:
    return {row["scenario"]: row["cpu_ratio"] for row in rows if row["cpu_ratio"] is not None and not row.get("keep")}
