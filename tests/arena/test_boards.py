"""The board that follows in a series: what becomes of who was away when the one before it ended."""

from __future__ import annotations

import pytest

from battlebot.arena.live.boards import next_board
from battlebot.arena.live.making import new_match
from battlebot.config import load_settings
from battlebot.referee.events import Left, Overdue
from battlebot.referee.match import Match, Series
from battlebot.referee.step import step
from battlebot.rules.registry import Registry

START_S = 1000.0
LIMIT_S = 5.5
SEATS = [("ada", "n/1.1"), ("bob", "n/2.1")]


@pytest.mark.parametrize("first", ["ada", "bob"])
@pytest.mark.parametrize(("later_s", "victor"), [(3.0, True), (0.5, False)])
def test_who_left_first_loses_both_boards(registry: Registry, first: str, later_s: float, victor: bool) -> None:
    """Also where the other has left since, later than at about the same time; the evidence is that of the first."""
    game, other = registry["gomoku"], "bob" if first == "ada" else "ada"
    series = Series("s", 1, 2, 7)
    match = new_match(game, SEATS, load_settings({}, None), START_S, series=series)
    places = dict(SEATS)
    for bot, at_s in ((first, START_S), (other, START_S + later_s)):
        match = step(game, match, Left(bot, places[bot], True, at_s - START_S, "goodbye", at_s), at_s).match
    boards: list[Match] = [step(game, match, Overdue(), START_S + LIMIT_S).match]
    follows = next_board(game, boards[0], 8, START_S + LIMIT_S)
    boards.append(step(game, follows, Overdue(), START_S + LIMIT_S).match)
    for board in boards:
        assert board.verdict is not None
        assert board.verdict.victor == (other if victor else None)
        assert board.verdict.evidence["how"] == {"ada": "goodbye", "bob": "goodbye"}
        assert board.verdict.evidence["awayMs"][first] == round(LIMIT_S * 1000)
