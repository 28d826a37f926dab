"""Who beat whom: the results of every pair of a contest, as cells of a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LARGEST = 20  # bots; a larger table is unreadable


@dataclass(frozen=True)
class Cell:
    """One bot's results against another, in meetings."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def results(self) -> list[str]:
        """One word per meeting, wins first; their order in time is not stored."""
        return ["win"] * self.wins + ["draw"] * self.draws + ["loss"] * self.losses


Results = Mapping[str, Mapping[str, Mapping[str, int]]]


def crosstable(names: Sequence[str], results: Results) -> dict[str, dict[str, Cell]]:
    """`table[a][b]`: the results of a against b, for all pairs of `names`; `results` are bot -> opponent -> counts."""
    return {a: {b: _cell(results.get(a, {}).get(b, {})) for b in names if b != a} for a in names}


def _cell(counts: Mapping[str, int]) -> Cell:
    return Cell(counts.get("wins", 0), counts.get("draws", 0), counts.get("losses", 0))
