"""Replays a list of events by the rules, from an empty board and no points: of our matches, or from others' files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from games.crossword.board import EMPTY, SIZE, Board, Cell, as_rack, parse_position, points, with_tiles
from games.crossword.plays import IllegalPlay, read_play

Event = Mapping[str, Any]


class Replayed(NamedTuple):
    """The result of the events: the board, both scores, and for each event its player's score after it."""

    board: Board
    scores: tuple[int, int]
    cumulative: list[int]


def replay(events: list[dict[str, Any]]) -> Replayed:
    """Returns the result of a GameHistory's events; their points follow from the rules, not from what the events say.

    Only bonuses and time penalties are taken from the events. A rack that is not given may hold anything. Raises
    ValueError for an impossible event, with its number from 1.
    """
    table = _Table()
    cumulative = []
    for number, event in enumerate(events, start=1):
        player = event.get("player_index", 0)
        try:
            table.scores[player] += WORTH[event.get("type", "TILE_PLACEMENT_MOVE")](table, event)
        except (IllegalPlay, KeyError, IndexError) as error:
            raise ValueError(f"Event {number} cannot be: {error}") from None
        cumulative.append(table.scores[player])
    return Replayed(table.board, (table.scores[0], table.scores[1]), cumulative)


class _Table:
    def __init__(self) -> None:
        self.board: Board = [EMPTY * SIZE] * SIZE
        self.scores = [0, 0]
        self.last: tuple[list[Cell], int] | None = None  # the cells and the points of the last play

    def play(self, event: Event) -> int:
        tiles = self.not_there(event)
        rack = event.get("rack") or as_rack(tiles)
        play = read_play(self.board, rack, event["position"], tiles)
        self.board = with_tiles(self.board, play.tiles)
        self.last = (list(play.tiles), play.score)
        return play.score

    def not_there(self, event: Event) -> str:
        """Returns the played tiles with a dot for each tile already on the board: some programs write its letter."""
        tiles: str = event["played_tiles"]
        where = parse_position(event["position"])
        if where is None:
            return tiles
        (row, column), down = where
        there = "".join(line[column] for line in self.board[row:]) if down else self.board[row][column:]
        return "".join(
            EMPTY if lies.upper() == tile.upper() else tile
            for tile, lies in zip(tiles, there.ljust(len(tiles), EMPTY), strict=False)
        )

    def take_back(self, event: Event) -> int:
        if self.last is None:
            raise IllegalPlay("There is no play that could be taken back.")
        (cells, score), self.last = self.last, None
        self.board = with_tiles(self.board, dict.fromkeys(cells, EMPTY))
        return -score


WORTH: dict[str, Callable[[_Table, Event], int]] = {
    "TILE_PLACEMENT_MOVE": _Table.play,
    "PHONY_TILES_RETURNED": _Table.take_back,
    "PASS": lambda table, event: 0,
    "EXCHANGE": lambda table, event: 0,
    "CHALLENGE": lambda table, event: 0,
    "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": lambda table, event: 0,
    "CHALLENGE_BONUS": lambda table, event: int(event.get("bonus", 0)),
    "END_RACK_PTS": lambda table, event: 2 * points(event.get("rack", "")),
    "TIME_PENALTY": lambda table, event: -int(event.get("lost_score", 0)),
    "END_RACK_PENALTY": lambda table, event: -points(event.get("rack", "")),
}
