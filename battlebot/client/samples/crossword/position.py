"""What a bot knows at its turn, derived from a history: board, rack, number of tiles in the bag, the last play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from battlebot.client.samples.crossword.tables import ALL_TILES, COLUMNS, EMPTY, RACK, SIZE

Event = dict[str, Any]

# after these the last play can no longer be challenged
SETTLES = ("PASS", "EXCHANGE", "CHALLENGE_BONUS", "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "PHONY_TILES_RETURNED")


@dataclass
class Position:
    """A position. `open_words`: the words of the opponent's last play while it can be challenged. `bag`: a count."""

    board: list[str] = field(default_factory=lambda: [EMPTY * SIZE] * SIZE)
    rack: str = ""
    bag: int = ALL_TILES - 2 * RACK
    open_words: list[str] = field(default_factory=list)
    final: bool = False  # the opponent has gone out: only a pass or a challenge is left
    void: bool = False
    lexicon: str = ""


def position_of(history: Mapping[str, Any]) -> Position:
    """The position of the bot whose rack is in the history; as sent to bots, a history holds only one rack."""
    racks = history.get("last_known_racks", ())
    own = next((index for index, rack in enumerate(racks) if rack), 0)
    position = Position(
        rack=racks[own] if racks else "",
        final=history.get("play_state") == "WAITING_FOR_FINAL_PASS",
        void=history.get("challenge_rule", "VOID") == "VOID",
        lexicon=history.get("lexicon", ""),
    )
    for event in history.get("events", ()):
        kind = event.get("type", "TILE_PLACEMENT_MOVE")
        if kind == "TILE_PLACEMENT_MOVE":
            _lay(position, event)
            theirs = event.get("player_index", 0) != own
            position.open_words = list(event.get("words_formed", ())) if theirs else []
        elif kind in SETTLES:
            position.open_words = []
            if kind == "PHONY_TILES_RETURNED":
                _lay(position, event, back=True)
    on_board = sum(SIZE - row.count(EMPTY) for row in position.board)
    position.bag = max(0, ALL_TILES - on_board - 2 * RACK)
    return position


def _lay(position: Position, event: Event, back: bool = False) -> None:
    row, column, down = place_of(event["position"])
    rows = [list(line) for line in position.board]
    for step, tile in enumerate(event["played_tiles"]):
        if tile != EMPTY:
            rows[row + step * down][column + step * (not down)] = EMPTY if back else tile
    position.board = ["".join(line) for line in rows]


def place_of(text: str) -> tuple[int, int, bool]:
    """Parse a square into (row, column, down): `8D` is row 7, column 3, across; `D8` is the same square, down."""
    down = text[0].isalpha()
    letter, number = (text[0], text[1:]) if down else (text[-1], text[:-1])
    return int(number) - 1, COLUMNS.index(letter.upper()), down
