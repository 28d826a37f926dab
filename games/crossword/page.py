"""A state in a form to show: the board with its premium squares, racks, the score sheet, all events in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from games.crossword.board import EMPTY, LAYOUT, SIZE

State = dict[str, Any]
Event = dict[str, Any]
Row = list[str]

KINDS = {"T": "word3", "D": "word2", "t": "letter3", "d": "letter2", EMPTY: "empty"}
# the texts of empty premium squares
SIGNS = {"word3": "3W", "word2": "2W", "letter3": "3L", "letter2": "2L", "empty": ""}


def picture(state: State) -> dict[str, Any]:
    """Returns the board's squares and the tables beside it; shows only what the state contains."""
    return {
        "columns": [chr(ord("A") + column) for column in range(SIZE)],
        "rows": [str(row + 1) for row in range(SIZE)],
        "board": [
            [_square(tile, LAYOUT[row][column]) for column, tile in enumerate(tiles)]
            for row, tiles in enumerate(state["board"])
        ],
        "tables": [_racks(state), _score_sheet(state), _events(state)],
    }


def _square(tile: str, premium: str) -> dict[str, str]:
    if tile == EMPTY:
        kind = KINDS[premium]
        return {"text": SIGNS[kind], "kind": kind}
    return {"text": tile.upper(), "kind": "blank" if tile.islower() else "tile"}


def _racks(state: State) -> dict[str, Any]:
    counts = state.get("rackCounts") or [len(rack) for rack in state["racks"]]
    known = zip(state["players"], state["scores"], state["racks"], counts, strict=True)
    rows = [[name, str(score), rack or "hidden" if count else "", str(count)] for name, score, rack, count in known]
    return {
        "title": f"Racks; {state['bagCount']} tiles in the bag",
        "head": ["Bot", "Score", "Rack", "Tiles"],
        "numbers": [1, 3],
        "rows": rows,
    }


def _score_sheet(state: State) -> dict[str, Any]:
    """One line for a turn of each player; a challenge's effect gets its own line if the player's turn is there."""
    lines: list[dict[int, Row]] = []
    for event in state["events"]:
        player = event["player_index"]
        if not lines or player == 0 or player in lines[-1]:
            lines.append({})
        lines[-1][player] = [_short(event), f"{_gain(event):+d}", str(event["cumulative"])]
    nothing = ["", "", ""]
    first, second = state["players"]
    return {
        "title": "Score sheet",
        "head": ["#", first, "Points", "Total", second, "Points", "Total"],
        "numbers": [0, 2, 3, 5, 6],
        "rows": [
            [str(number), *line.get(0, nothing), *line.get(1, nothing)] for number, line in enumerate(lines, start=1)
        ],
    }


def _events(state: State) -> dict[str, Any]:
    return {
        "title": f"Events; challenges under the rule {state['challengeRule']}, words of {state['lexicon']}",
        "head": ["#", "Bot", "What", "Words", "Points", "Total"],
        "numbers": [0, 4, 5],
        "rows": list(_event_rows(state)),
    }


def _event_rows(state: State) -> Iterator[Row]:
    for number, event in enumerate(state["events"], start=1):
        name = state["players"][event["player_index"]]
        words = ", ".join(event.get("words_formed", ()))
        yield [str(number), name, SAID[event["type"]](event), words, f"{_gain(event):+d}", str(event["cumulative"])]


def _gain(event: Event) -> int:
    gains = sum(event.get(name, 0) for name in ("score", "bonus", "end_rack_points"))
    return int(gains - event.get("lost_score", 0))


def _short(event: Event) -> str:
    if event["type"] == "TILE_PLACEMENT_MOVE":
        return f"{event['position']} {event['played_tiles']}"
    return SHORT[event["type"]]


def _given_back(event: Event) -> str:
    tiles = event.get("exchanged")
    return f"exchanged {tiles}" if tiles else f"exchanged {event['num_tiles_from_rack']} tiles"


SHORT = {
    "EXCHANGE": "exchange",
    "PASS": "pass",
    "PHONY_TILES_RETURNED": "taken back",
    "CHALLENGE_BONUS": "challenged in vain",
    "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": "lost challenge",
    "END_RACK_PTS": "opponent's rack",
    "END_RACK_PENALTY": "own rack",
}
SAID: dict[str, Callable[[Event], str]] = {
    "TILE_PLACEMENT_MOVE": lambda event: f"laid {event['played_tiles']} at {event['position']}",
    "EXCHANGE": _given_back,
    "PASS": lambda event: "passed",
    "PHONY_TILES_RETURNED": lambda event: f"was challenged, and took {event['played_tiles']} back",
    "CHALLENGE_BONUS": lambda event: "was challenged in vain",
    "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": lambda event: "challenged in vain, and lost by it",
    "END_RACK_PTS": lambda event: f"gets twice the opponent's {event.get('rack', '')}",
    "END_RACK_PENALTY": lambda event: f"is left with {event.get('rack', '')}",
}
