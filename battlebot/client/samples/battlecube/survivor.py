"""Looks some ticks ahead: walks where no bomb lies and others can hardly be by then; bombs whom it can from there.

Where another can be after k ticks are all cells within k steps of it; the further off they are, the less likely each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from battlebot.client.samples.battlecube.question import (
    STEPS,
    Cell,
    Question,
    Tasks,
    bomb,
    cell_of,
    inside,
    move,
    moved,
)

AHEAD = 4  # ticks, where fewer tasks are asked for
BEAM = 150  # paths that are followed at each tick
STAYING = 0.08  # what it costs to stay: bombs are thrown at where a bot is
EDGE = 0.01  # what it costs to have one way less to go on

Path = tuple[float, Cell, tuple[str | None, ...]]


def decide(question: Question) -> Tasks:
    """The tasks of the path with the least danger; where it stays, a bomb at the nearest bot."""
    info, name = question["gameInfo"], question["currentPlayer"]["name"]
    rows = {row["name"]: cell_of(row) for row in question["players"]}
    own, others = rows[name], [cell for player, cell in rows.items() if player != name]
    bombs = {cell_of(item) for item in question["items"]}
    count, edge = info["numOfTasksPerTick"], info["edgeLength"]
    steps = _best(own, others, bombs, edge, max(count, AHEAD))[:count]
    return [_task(step, own, others) for step in steps]


def _task(step: str | None, own: Cell, others: list[Cell]) -> dict[str, Any]:
    if step is not None:
        return move(step)
    target = min(others, key=lambda cell: _distance(cell, own), default=None)
    return {"task": "NOOP"} if target is None or target == own else bomb(target)


def _best(own: Cell, others: list[Cell], bombs: set[Cell], edge: int, ticks: int) -> tuple[str | None, ...]:
    paths: list[Path] = [(0.0, own, ())]
    for tick in range(1, ticks + 1):
        found = [
            (danger + _danger(cell, step, others, bombs, edge, tick), cell, (*steps, step))
            for danger, before, steps in paths
            for step, cell in _ways(before, edge)
        ]
        found.sort(key=lambda path: path[0])
        paths = found[:BEAM]
    return paths[0][2]


def _ways(cell: Cell, edge: int) -> Iterable[tuple[str | None, Cell]]:
    yield None, cell
    for direction, step in STEPS.items():
        if inside(after := moved(cell, step), edge):
            yield direction, after


def _danger(cell: Cell, step: str | None, others: list[Cell], bombs: set[Cell], edge: int, tick: int) -> float:
    """How likely it is, roughly, to end in this cell at this tick; the next ticks count most."""
    if cell in bombs:
        return 10.0 / tick
    near = sum(1.0 / (1 + _distance(cell, other)) ** 2 for other in others if _distance(cell, other) <= tick)
    closed = sum(not inside(moved(cell, way), edge) or moved(cell, way) in bombs for way in STEPS.values())
    return (near + EDGE * closed + (STAYING if step is None else 0.0)) / tick


def _distance(one: Cell, other: Cell) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
