"""The question that a battlecube bot answers, whatever the door. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Question = dict[str, Any]
Tasks = list[dict[str, Any]]
Decide = Callable[[Question], Tasks]
Cell = tuple[int, int, int]

STEPS: dict[str, Cell] = {
    "+X": (1, 0, 0),
    "-X": (-1, 0, 0),
    "+Y": (0, 1, 0),
    "-Y": (0, -1, 0),
    "+Z": (0, 0, 1),
    "-Z": (0, 0, -1),
}
NOOP = {"task": "NOOP"}


def question_of(state: dict[str, Any], bot_id: str) -> Question:
    """The question as sent to stateless bots, made from the state that a connected bot sees."""
    info = {key: state[key] for key in ("edgeLength", "currentTick", "numOfTasksPerTick")}
    return {
        "currentPlayer": {"name": bot_id},
        "gameInfo": {**info, "numOfBotsInPlay": len(state["positions"])},
        "players": state["positions"],
        "items": state["items"],
    }


def cell_of(row: dict[str, Any]) -> Cell:
    """The cell of a player or a bomb."""
    return row["x"], row["y"], row["z"]


def moved(cell: Cell, step: Cell) -> Cell:
    """The cell one step further."""
    return cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]


def inside(cell: Cell, edge: int) -> bool:
    """Whether the cell lies inside the cube."""
    return all(0 <= place < edge for place in cell)


def move(direction: str) -> dict[str, Any]:
    """The task to move one step."""
    return {"task": "MOVE", "direction": direction}


def bomb(cell: Cell) -> dict[str, Any]:
    """The task to place a bomb at a cell."""
    return {"task": "PLACE_BOMB", "x": cell[0], "y": cell[1], "z": cell[2]}
