"""Looks some ticks ahead: avoids bombs and cells that others may reach; when it stays, it bombs the nearest bot.

After k ticks another bot may be in any cell within k steps of it; the further away the cell, the less likely.
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

AHEAD = 4  # ticks to look ahead, even if fewer tasks are asked for
BEAM = 150  # paths kept at each tick
STAYING = 0.08  # cost of staying: bots throw bombs at current positions
EDGE = 0.01  # cost of each direction that is closed

Path = tuple[float, Cell, tuple[str | None, ...]]


def decide(question: Question) -> Tasks:
    """The tasks along the least dangerous path; for a tick without a move, a bomb at the nearest bot."""
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
    """A rough cost for the risk of dying in this cell at this tick; earlier ticks count more."""
    if cell in bombs:
        return 10.0 / tick
    near = sum(1.0 / (1 + _distance(cell, other)) ** 2 for other in others if _distance(cell, other) <= tick)
    closed = sum(not inside(moved(cell, way), edge) or moved(cell, way) in bombs for way in STEPS.values())
    return (near + EDGE * closed + (STAYING if step is None else 0.0)) / tick


def _distance(one: Cell, other: Cell) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
