"""Who beat whom, by tables."""

from __future__ import annotations

import pytest

from battlebot.web.crosstable import Cell, crosstable

RESULTS = [
    pytest.param({}, {}, id="nothing played"),
    pytest.param(
        {"a": {"b": {"wins": 1, "draws": 0, "losses": 2}}, "b": {"a": {"wins": 2, "draws": 0, "losses": 1}}},
        {("a", "b"): Cell(1, 0, 2), ("b", "a"): Cell(2, 0, 1)},
        id="each sees it from its side",
    ),
    pytest.param({"a": {"stranger": {"wins": 1}}, "x": {"a": {"wins": 1}}}, {}, id="who is not in the table"),
]


@pytest.mark.parametrize(("results", "expected"), RESULTS)
def test_pairs_have_these_results(
    results: dict[str, dict[str, dict[str, int]]], expected: dict[tuple[str, str], Cell]
) -> None:
    """All pairs of the names have a cell; nobody meets itself."""
    table = crosstable("abc", results)
    assert {(a, b): cell for a, row in table.items() for b, cell in row.items() if cell != Cell()} == expected
    assert all(a not in row and len(row) == 2 for a, row in table.items())


def test_a_cell_has_a_mark_for_each_meeting() -> None:
    """Wins, draws, losses."""
    assert Cell(2, 1, 1).results == ["win", "win", "draw", "loss"]
