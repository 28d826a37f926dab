"""Who beat whom, by tables."""

from __future__ import annotations

import pytest

from battlebot.web.crosstable import crosstable

GAMES = [
    pytest.param([], {}, id="nothing played"),
    pytest.param([("a", "b", "a")], {("a", "b"): ["win"], ("b", "a"): ["loss"]}, id="a won"),
    pytest.param([("b", "a", None)], {("a", "b"): ["draw"], ("b", "a"): ["draw"]}, id="a draw, whoever began"),
    pytest.param(
        [("b", "a", "b"), ("a", "b", None), ("a", "b", "a")],
        {("a", "b"): ["win", "draw", "loss"], ("b", "a"): ["loss", "draw", "win"]},
        id="the oldest meeting first",
    ),
    pytest.param([("a", "stranger", "a")], {}, id="against one who is not in the table"),
    pytest.param(
        [("a", "b", "c", "a")],
        {("a", "b"): ["win"], ("b", "a"): ["loss"], ("a", "c"): ["win"], ("c", "a"): ["loss"]},
        id="of three the winner beat both",
    ),
]


@pytest.mark.parametrize(("games", "expected"), GAMES)
def test_pairs_have_these_results(games: list[tuple[str, ...]], expected: dict[tuple[str, str], list[str]]) -> None:
    """The games come newest first, as the storage gives them."""
    table = crosstable("abc", [{"players": list(players), "victor": victor} for *players, victor in games])
    assert {(a, b): cell.results for a, row in table.items() for b, cell in row.items() if cell.results} == expected
    assert all(a not in row and len(row) == 2 for a, row in table.items())


def test_a_cell_counts() -> None:
    """Wins, draws, losses."""
    games = [{"players": ["a", "b"], "victor": victor} for victor in ("a", "a", None, "b", "a")]
    cell = crosstable("ab", games)["a"]["b"]
    assert (cell.wins, cell.draws, cell.losses) == (3, 1, 1)
