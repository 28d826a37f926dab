"""The table of results for people, with the original's figures and the aims beside them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.runner import Row

# (the original server in the same environment, the aim), as ratios where no unit is given
REFERENCE = {
    "endless": ("0.77-0.84", "0.60"),
    "alone": ("", "at most 3"),
    "contest": ("0.006-0.008", "0.015"),
    "crowd": ("0.010-0.011", "0.022"),
    "logins": ("0.028", "0.035"),
    "duel": ("44 ms a ply", "twice the WebSocket door"),
    "latency": ("", "10 ms (p99); two nodes: 15"),
    "scale": ("", ""),
    "idle": ("36-54 KB", "45 KB"),
    "pairing": ("", "1 s; 10,000: 10 s"),
    "archive": ("", "1,000 games/s"),
    "rankings": ("", "20 ms (p99)"),
    "battles": ("1,290 ticks/s; alone 250", "1,935 ticks/s; alone 375"),
    "crossword_rules": ("", "100 us"),
    "crossword_contest": ("", ""),
}


def show(rows: Sequence[Row]) -> None:
    """Print the table to stderr."""
    table = Table(title="Ratios to the echo of the same run")
    for heading in (
        "scenario",
        "value",
        "ratio",
        "runs",
        "by CPU",
        "original",
        "aim",
        "p50 ms",
        "p99 ms",
        "echo/s",
        "wrong",
    ):
        table.add_column(heading, justify="left" if heading == "scenario" else "right", no_wrap=True)
    for row in rows:
        times = row.get("turn_ms") or row.get("login_ms") or {}
        original, aim = REFERENCE.get(row["scenario"], ("", ""))
        table.add_row(
            row["scenario"] + (" (keep)" if row.get("keep") else ""),
            f"{row['value']:,} {row['unit']}",
            "" if row["ratio"] is None else f"{row['ratio']:g}",
            _spread(row),
            "" if row["cpu_ratio"] is None else f"{row['cpu_ratio']:g}",
            original,
            aim,
            f"{times.get('p50', '')}",
            f"{times.get('p99', '')}",
            f"{row['echo']['per_s']:,}",
            str(row["wrong"]),
        )
    Console(file=sys.stderr, width=None if sys.stderr.isatty() else 140).print(table)
    for row in rows:
        for example in row["examples"]:
            print(f"{row['scenario']}: {example[:600]}", file=sys.stderr)


def _spread(row: Row) -> str:
    figures = row["values"] if row["ratio"] is None else row["ratios"]
    return "1" if len(figures) == 1 else f"{len(figures)}: {min(figures):g}-{max(figures):g}"
