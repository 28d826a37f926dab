"""Who beat whom: the results of every pair of a contest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

LARGEST = 20  # bots; a larger table is readable for nobody


@dataclass
class Cell:
    """What one bot did against another; `results` holds "win", "draw" or "loss", the first meeting first."""

    results: list[str] = field(default_factory=list)

    @property
    def wins(self) -> int:
        """Meetings won."""
        return self.results.count("win")

    @property
    def draws(self) -> int:
        """Meetings drawn."""
        return self.results.count("draw")

    @property
    def losses(self) -> int:
        """Meetings lost."""
        return self.results.count("loss")


def crosstable(names: Sequence[str], games: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Cell]]:
    """`table[a][b]`: what a did against b, for all pairs of `names`; games are `{players, victor}`, newest first.

    A match of more than two bots says nothing about the pairs of which neither won, unless nobody did.
    """
    table = {a: {b: Cell() for b in names if b != a} for a in names}
    for game in reversed(list(games)):
        for a, b in combinations(game["players"], 2):
            if a not in table or b not in table:
                continue
            if game["victor"] is None:
                results = ("draw", "draw")
            elif game["victor"] in (a, b):
                results = ("win", "loss") if game["victor"] == a else ("loss", "win")
            else:
                continue
            table[a][b].results.append(results[0])
            table[b][a].results.append(results[1])
    return table
